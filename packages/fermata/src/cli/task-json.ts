/** A task's result in the form that the REST API gives it. */
import { toWire } from '@fermata/protocol';
import type { TaskResult } from '../task-result.ts';

const MiB = 1024 * 1024;

export function taskJson(result: TaskResult, snapshot?: string): Record<string, unknown> {
  const { taskId, status, output, stdout, stderr, truncated, error, waitingFor, calls, files, resourcesUsed: used } = result;
  return {
    task_id: taskId,
    status,
    ...(status === 'waiting' || status === 'paused'
      ? { waiting_for: waitingFor.map((wait) => ({ call_id: wait.callId, tool: wait.tool, arguments: toWire(wait.arguments), kind: wait.kind })) }
      : {}),
    ...(snapshot === undefined ? {} : { snapshot, resumable: true }),
    result: {
      output: status === 'succeeded' ? toWire(output) : null,
      stdout,
      stderr,
      exit_code: status === 'succeeded' ? 0 : 1,
      truncated,
      execution_log: calls.map((call) => ({
        call_id: call.callId,
        tool: call.tool,
        arguments: toWire(call.arguments),
        status: call.status,
        ...(call.error === undefined ? {} : { error: call.error }),
      })),
      files: files.map(({ path, data }) => ({ path, bytes: data.length })),
    },
    ...(error ? { error } : {}),
    resources_used: {
      wall_time_s: used.wallTimeMs / 1000,
      cpu_time_s: used.cpuTimeMs / 1000,
      memory_mb: used.memoryBytes / MiB,
      peak_memory_mb: used.peakMemoryBytes / MiB,
      disk_bytes: used.diskBytes,
      output_bytes: used.outputBytes,
      tool_calls: used.toolCalls,
      fuel: used.fuel,
    },
  };
}

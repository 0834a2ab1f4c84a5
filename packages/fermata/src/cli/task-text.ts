/** Tasks and what belongs to them, as text for a person. */
import type { CallWire, EventWire, TaskStateWire, TaskWire } from '@fermata/protocol/wire';
import { brief, columns, dim, facts } from './print.ts';
import { failureText } from './tell-task.ts';

export function taskLine(task: TaskWire): string[] {
  return [task.task_id, task.status, task.language ?? '', task.created_at, noteOf(task)];
}

function noteOf(task: TaskWire): string {
  if (task.status === 'failed') return `${task.error.code}: ${brief(task.error.message)}`;
  if (task.status === 'succeeded') return brief(task.result.output, 60);
  if ('waiting_for' in task && task.waiting_for?.length) return `waits for ${task.waiting_for.map(({ tool, kind }) => (tool === null ? kind : `${tool} (${kind})`)).join(', ')}`;
  return task.status === 'paused' ? (task.pause_reason ?? '') : '';
}

export function taskText(task: TaskWire): string {
  const { task_id, status, language, created_at, started_at, attempt, session_id, batch_id, checkpoint_id, resources_used: used, metadata } = task;
  const common = facts({
    ...{ task: task_id, status, language, created: created_at, started: started_at },
    ...('completed_at' in task ? { completed: task.completed_at } : { line: task.line, step: task.current_step, progress: task.progress }),
    ...(task.status === 'paused' ? { paused: `${task.pause_reason}${task.resumable ? '' : `, cannot be resumed: ${task.resumable_reason}`}` } : {}),
    ...(task.status === 'pending' ? { queue: [task.queue_position, task.queue_reason].filter((part) => part !== null).join(': ') } : {}),
    ...{ attempt, session: session_id, batch: batch_id, checkpoint: checkpoint_id },
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    used: `${used.wall_time_s.toFixed(2)} s, processor ${used.cpu_time_s.toFixed(2)} s, memory ${used.peak_memory_mb.toFixed(1)} MiB, ${used.tool_calls} calls`,
  });
  const rest = [common];
  if (!('completed_at' in task)) {
    for (const wait of task.waiting_for ?? [])
      rest.push(`waits for: ${wait.tool === null ? `${wait.kind} ${wait.expires_at}` : `${wait.call_id} ${wait.tool}(${brief(wait.arguments)}) ${wait.kind}`}`);
    for (const call of task.in_flight ?? []) rest.push(`under way: ${call.call_id} ${call.tool}`);
  } else if (task.status === 'failed') rest.push(failureText(task));
  else if (task.status === 'succeeded') rest.push(`result: ${JSON.stringify(task.result.output)}`);
  return rest.join('\n');
}

export function callLine({ call_id, tool, arguments: args, status, waits_for, output, error }: CallWire): string[] {
  const came = error ? `failed: ${error.message}` : output === undefined ? (waits_for ?? '') : brief(output);
  return [call_id, waits_for ?? status, `${tool}(${brief(args)})`, came];
}

export function eventLine({ seq, at, kind, data }: EventWire): string {
  return `${String(seq ?? '-').padStart(5)}  ${dim(at)}  ${kind.padEnd(12)}  ${brief(data, 200)}`;
}

export function stateText({ stack, pending, files, incomplete }: TaskStateWire): string {
  const frames = stack.flatMap(({ file, line, function: name, locals }) => [
    `${file}${line === null ? '' : `:${line}`} ${name}`,
    ...Object.entries(locals).map(([variable, value]) => `    ${variable} = ${value}`),
  ]);
  return [
    ...frames,
    ...pending.map(({ tool, arguments: args }) => `waits for ${tool}(${brief(args)})`),
    ...(files.length > 0 ? [columns(files.map(({ path, bytes }) => [path, `${bytes} B`]))] : []),
    ...(incomplete === undefined ? [] : [`incomplete: ${incomplete}`]),
  ].join('\n');
}

/** An engine's task as the wire shows it. */
import type { TaskView } from '@fermata/engine';
import { type EndedStatus, type Entry, imageOfLanguage, isAuthored, programRequest, type TaskFault } from '@fermata/protocol';
import { type LogLineWire, type ShortTaskWire, showUsage, type TaskErrorWire, type TaskResultWire, type TaskWire } from '@fermata/protocol/wire';
import { outputFileId } from '../task-files.ts';
import { showMaybeTime, showTime } from './time.ts';
import { withoutTexts } from './without-texts.ts';

/** `log`: what happened, for a task that has ended. */
export function showTask(task: TaskView, log?: LogLineWire[]): TaskWire {
  switch (task.status) {
    case 'pending':
      return { status: 'pending', ...unended(task), queue_position: task.queuePosition, queue_reason: task.queueReason };
    case 'running':
    case 'waiting':
      return { status: task.status, ...unended(task) };
    case 'paused': {
      const resumable = task.resumable ?? true;
      const reason = resumable || task.resumableReason === null ? {} : { resumable_reason: task.resumableReason };
      return { status: 'paused', ...unended(task), pause_reason: task.pauseReason, resumable, ...reason };
    }
    case 'failed':
      return { status: 'failed', ...ended(task, log), error: showFault(task.error ?? { code: 'internal', message: 'the reason was not recorded' }) };
    default:
      return { status: task.status, ...ended(task, log) };
  }
}

export function showFault({ code, message, name, traceback, line, column, hint }: TaskFault): TaskErrorWire {
  return { code, message, ...(name === undefined ? {} : { name }), traceback: traceback ?? null, line: line ?? null, column: column ?? null, hint: hint ?? null };
}

/** The entries of a journal that say what happened; what the program printed is told elsewhere. */
export function showLog(entries: readonly Entry[]): LogLineWire[] {
  return entries.filter(({ kind }) => kind !== 'output').map(({ seq, at, kind, body }) => ({ seq, at: showTime(at), kind, data: withoutTexts(kind, JSON.parse(body)) }));
}

/** A task of a list, without what takes long to gather, such as its output. */
export function showListed(task: TaskView): TaskWire {
  const shown = showTask(task);
  if ('result' in shown) {
    const { stdout: _stdout, stderr: _stderr, ...result } = shown.result;
    return { ...shown, result };
  }
  const { waiting_for: _waitingFor, in_flight: _inFlight, ...rest } = shown;
  return rest;
}

const SHORT = {
  pending: 'pending',
  running: 'running',
  waiting: 'paused',
  paused: 'paused',
  succeeded: 'success',
  failed: 'failed',
  cancelled: 'cancelled',
} as const;

/** Nobody needs to do anything: a sleep of the program goes by. */
function waitsForTime({ status, waitingFor }: TaskView): boolean {
  return status === 'waiting' && waitingFor.every(({ kind }) => kind === 'timer');
}

/** `output` is the result, or what the program has printed where it has none. */
export function showShort(task: TaskView): ShortTaskWire {
  const { wall_time_s, cpu_time_s, memory_mb } = showUsage(task.usage);
  return {
    call_id: task.taskId,
    status: waitsForTime(task) ? 'running' : SHORT[task.status],
    output: showOutput(task.output) ?? (task.stdout || null),
    ...answerOf(task),
    error_message: task.error?.message ?? null,
    execution_metadata: { execution_time_seconds: wall_time_s, cpu_time_s, memory_mb, return_code: exitCode(task.status) },
  };
}

/** Of an instruction. */
function answerOf({ request, answer }: TaskView): { answer?: string | null } {
  return isAuthored(request) ? { answer } : {};
}

/** A program that returns nothing has the result null. */
export function showOutput(output: unknown): unknown {
  if (output === undefined) return null;
  const tag = output !== null && typeof output === 'object' ? (output as { $fermata?: unknown }).$fermata : undefined;
  return Array.isArray(tag) && tag[0] === 'undefined' ? null : output;
}

function always(task: TaskView) {
  const { request } = task;
  const { forkOf } = request;
  const language = programRequest(task)?.language ?? null;
  return {
    task_id: task.taskId,
    created_at: showTime(task.createdAt),
    updated_at: showTime(task.updatedAt),
    attempt: task.attempt,
    worker: task.worker,
    sandbox: 'wasm' as const,
    image: language && imageOfLanguage[language],
    language,
    session_id: task.sessionId,
    batch_id: task.batchId,
    priority: task.priority,
    metadata: request.metadata ?? {},
    started_at: showMaybeTime(task.startedAt),
    checkpoint_id: task.checkpointId,
    ...(forkOf ? { fork_of: { task_id: forkOf.taskId, checkpoint_id: forkOf.checkpointId } } : {}),
    resources_used: showUsage(task.usage),
  };
}

function unended(task: TaskView) {
  return {
    ...always(task),
    desired: task.desired,
    waiting_for: task.waitingFor.map(({ callId, tool, originalTool, arguments: args, kind, expiresAt, createdAt }) => ({
      call_id: callId,
      tool,
      ...(originalTool === undefined ? {} : { original_tool: originalTool }),
      arguments: args,
      kind,
      expires_at: showMaybeTime(expiresAt),
      created_at: showTime(createdAt),
    })),
    in_flight: task.inFlight.map(({ callId, tool, startedAt, tries }) => ({ call_id: callId, tool, started_at: showTime(startedAt), tries })),
    current_step: task.step ?? (task.status === 'running' ? 'running' : null),
    line: task.line,
    progress: task.progress,
  };
}

function ended(task: TaskView, log?: LogLineWire[]) {
  return { ...always(task), completed_at: showTime(task.endedAt ?? task.updatedAt), result: resultOf(task, log) };
}

function resultOf(task: TaskView, log?: LogLineWire[]): TaskResultWire {
  return {
    output: showOutput(task.output),
    ...answerOf(task),
    stdout: task.stdout,
    stderr: task.stderr,
    exit_code: exitCode(task.status),
    truncated: task.truncated,
    ...(log ? { execution_log: log } : {}),
    resources_used: showUsage(task.usage),
    files: task.files.map(({ path, bytes }, index) => ({ path, bytes, file_id: outputFileId(task.taskId, index) })),
  };
}

const EXIT_CODES: Record<EndedStatus, number | null> = { succeeded: 0, failed: 1, cancelled: null };
const exitCode = (status: TaskView['status']) => EXIT_CODES[status as EndedStatus] ?? null;

/** A task as a model is shown it: what it needs to go on, no more than it can read, and in words what to do next. */
import type { TaskWire, WaitingForWire } from '@fermata/protocol/wire';
import { taskStatusSchema } from '@fermata/protocol/wire';
import { z } from 'zod';
import type { Told } from './mcp-tool.ts';
import { withoutNulls } from './present.ts';
import { resourceUri } from './resource-uri.ts';

/** Characters of a result, and of each of stdout and stderr, that are shown at once. */
const MAX_RESULT = 20_000;
const MAX_OUTPUT = 8_000;
const PREVIEW = 2_000;
const MAX_ARGUMENTS = 1_000;

const waitingCallSchema = z.object({
  call_id: z.string().optional(),
  tool: z.string().optional(),
  kind: z
    .string()
    .describe(
      'approval and review: a person decides; client_tool: whoever uses this server gives the result; outcome_unknown: it may or may not have been done; timer: time passes',
    ),
  arguments: z.unknown().optional(),
  expires_at: z.string().optional(),
});

export const shownTaskSchema = z.object({
  task_id: z.string(),
  status: taskStatusSchema.describe('waiting: somebody must settle a call; paused: stopped on request; the last three are final'),
  language: z.string().optional(),
  answer: z.string().optional().describe('Of an instruction: what the model says of the result'),
  result: z.unknown().optional().describe('What the program returned; what JSON lacks is {"$fermata": [kind, ...]}'),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      line: z.number().optional(),
      column: z.number().optional(),
      traceback: z.string().optional(),
      hint: z.string().optional(),
    })
    .optional(),
  waiting_for: z.array(waitingCallSchema).optional(),
  running_calls: z.array(z.string()).optional().describe('Tools that are at work now'),
  current_step: z.string().optional(),
  line: z.number().optional().describe('Line of the program that is reached'),
  progress: z.number().optional().describe('0 to 1, as the program tells it'),
  pause_reason: z.string().optional(),
  files: z.array(z.object({ path: z.string(), bytes: z.number(), file_id: z.string() })).optional(),
  cut: z
    .array(z.object({ part: z.enum(['result', 'stdout', 'stderr']), total_chars: z.number() }))
    .optional()
    .describe('What is not shown whole; read_output has it'),
  cpu_time_s: z.number(),
  wall_time_s: z.number(),
  tool_calls: z.number(),
  next: z.string().optional().describe('What to do next'),
});
export type ShownTask = z.output<typeof shownTaskSchema>;

export function showTask(task: TaskWire): ShownTask {
  const { cpu_time_s, wall_time_s, tool_calls } = task.resources_used;
  const shown: ShownTask = {
    task_id: task.task_id,
    status: task.status,
    ...withoutNulls({ language: task.language, answer: 'result' in task ? task.result.answer : null }),
    cpu_time_s,
    wall_time_s,
    tool_calls,
  };
  if ('result' in task) addResult(shown, task);
  else addProgress(shown, task);
  const next = nextOf(task);
  return next === undefined ? shown : { ...shown, next };
}

/** The answer of a tool that is about one task. `failed`: that its program failed is a failure of the tool. */
export function tellTask(task: TaskWire, { failed = false }: { failed?: boolean } = {}): Told {
  const value = showTask(task);
  const links = (value.files ?? []).map(({ path, file_id }) => ({ uri: resourceUri.file(file_id), name: path, mimeType: 'application/octet-stream' }));
  return { value, text: textOf(value), ...(failed && task.status === 'failed' ? { failed } : {}), ...(links.length > 0 ? { links } : {}) };
}

function addResult(shown: ShownTask, task: Extract<TaskWire, { completed_at: string }>): void {
  const { output, stdout = '', stderr = '', files } = task.result;
  const cut: NonNullable<ShownTask['cut']> = [];
  const text = JSON.stringify(output);
  if (text.length > MAX_RESULT) cut.push({ part: 'result', total_chars: text.length });
  if (task.status === 'succeeded') shown.result = text.length > MAX_RESULT ? `${text.slice(0, PREVIEW)}...` : output;
  for (const [part, all] of [
    ['stdout', stdout],
    ['stderr', stderr],
  ] as const) {
    if (all.length > MAX_OUTPUT) cut.push({ part, total_chars: all.length });
    if (all !== '') shown[part] = all.length > MAX_OUTPUT ? `...${all.slice(-MAX_OUTPUT)}` : all;
  }
  if (task.status === 'failed') {
    const { code, message, line, column, traceback, hint } = task.error;
    shown.error = { code, message, ...withoutNulls({ line, column, traceback, hint }) };
  }
  if (files.length > 0) shown.files = files;
  if (cut.length > 0) shown.cut = cut;
}

function addProgress(shown: ShownTask, task: Exclude<TaskWire, { completed_at: string }>): void {
  const { waiting_for: waits = [], in_flight: running = [], current_step, line, progress } = task;
  Object.assign(shown, withoutNulls({ current_step, line, progress }));
  if (waits.length > 0)
    shown.waiting_for = waits.map(({ kind, call_id, tool, arguments: args, expires_at }) => ({ kind, ...withoutNulls({ call_id, tool, arguments: args, expires_at }) }));
  if (running.length > 0) shown.running_calls = running.map(({ tool }) => tool);
  if (task.status === 'paused') Object.assign(shown, withoutNulls({ pause_reason: task.pause_reason }));
}

function nextOf(task: TaskWire): string | undefined {
  if (task.status === 'paused') {
    return task.resumable ? 'It is stopped and kept. resume_task goes on where it was.' : `It cannot be resumed: ${task.resumable_reason ?? 'the reason is not known'}`;
  }
  if (task.status === 'waiting') return (task.waiting_for ?? []).map(nextOfWait).join('\n') || undefined;
  if (task.status === 'pending' || task.status === 'running') return 'It goes on by itself. get_task with wait_seconds waits for its end; pause_task and cancel_task stop it.';
  return undefined;
}

function nextOfWait({ kind, call_id: id, tool, expires_at }: WaitingForWire): string {
  if (kind === 'timer') return `It sleeps until ${expires_at ?? 'its timer is due'}; get_task with wait_seconds waits with it.`;
  if (kind === 'client_tool') return `Carry out ${tool} and give its result to answer_call with call_id ${id}.`;
  if (kind === 'outcome_unknown') return `Nobody knows whether ${tool} was done. Find out, then answer_call with call_id ${id}: its output, its error, or retry.`;
  if (kind === 'review') return `A person must confirm or edit the value: ask the user, then approve_call or reject_call with call_id ${id}.`;
  return `A person must allow the call of ${tool}: ask the user, then approve_call or reject_call with call_id ${id}.`;
}

/** A task in a few lines. */
export function textOf(task: ShownTask): string {
  const { status, error, answer, result, stdout, stderr, files = [], waiting_for: waits = [], running_calls: running = [] } = task;
  const lines = [`${task.task_id} ${status}${status === 'running' || status === 'paused' ? placeOf(task) : ''}`];
  if (error) lines.push(`error ${error.code}: ${error.message}${error.line === undefined ? '' : ` (line ${error.line})`}`);
  if (error?.traceback) lines.push(error.traceback.trimEnd());
  if (error?.hint) lines.push(`hint: ${error.hint}`);
  if (status === 'succeeded') lines.push('result:', typeof result === 'string' ? result : JSON.stringify(result));
  if (answer) lines.push('answer:', answer);
  if (stdout) lines.push('stdout:', stdout.trimEnd());
  if (stderr) lines.push('stderr:', stderr.trimEnd());
  for (const { path, bytes, file_id } of files) lines.push(`file ${path}, ${bytes} bytes: ${file_id}`);
  for (const { part, total_chars } of task.cut ?? []) lines.push(`${part} is cut: it has ${total_chars} characters, which read_output reads`);
  for (const { kind, tool, call_id, arguments: args } of waits)
    lines.push(`waits for ${kind}${tool === undefined ? '' : `: ${tool}(${shorten(args)})`}${call_id === undefined ? '' : `, ${call_id}`}`);
  if (running.length > 0) lines.push(`at work: ${running.join(', ')}`);
  if (task.next) lines.push(task.next);
  return lines.join('\n');
}

function placeOf({ line, current_step: step, progress }: ShownTask): string {
  const parts = [
    line === undefined ? '' : `line ${line}`,
    step === undefined || step === 'running' ? '' : `step ${step}`,
    progress === undefined ? '' : `${Math.round(progress * 100)}%`,
  ];
  const said = parts.filter(Boolean).join(', ');
  return said ? `, ${said}` : '';
}

/** Arguments in one line. */
export function shorten(args: unknown, most = MAX_ARGUMENTS): string {
  const text = JSON.stringify(args) ?? '';
  return text.length > most ? `${text.slice(0, most)}...` : text;
}

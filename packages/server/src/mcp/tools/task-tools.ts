/** Following tasks, and stopping and continuing them. */
import { strictOptions } from '@fermata/protocol/schemas';
import { nameSchema, taskStatusSchema } from '@fermata/protocol/wire';
import { z } from 'zod';
import { withoutTexts } from '../../show/without-texts.ts';
import { followTask } from '../follow-task.ts';
import { mcpTool } from '../mcp-tool.ts';
import { withoutNulls } from '../present.ts';
import { TASK_PARTS } from '../resource-uri.ts';
import { shorten, shownTaskSchema, tellTask } from '../shown-task.ts';
import { taskText } from '../task-text.ts';

const PIECE = 20_000;
const MOST_EVENTS = 200;
const CONTROL_SECONDS = 10;

const taskId = nameSchema.describe('As run_code and list_tasks tell it');
const waitSeconds = (fallback: number, what: string) => z.number().min(0).max(600).default(fallback).describe(what);

const getTask = mcpTool({
  name: 'get_task',
  title: 'State of a task',
  description:
    'Tells what a task is at: its result or error once it has ended, else its state, line, step, and what it waits for. With wait_seconds it waits until the task has ended, is paused or needs somebody. Cancelling this request ends the waiting only.',
  scope: 'read',
  readOnly: true,
  idempotent: true,
  input: strictOptions({ task_id: taskId, wait_seconds: waitSeconds(0, 'How long to wait for its end; 0 looks only') }),
  output: shownTaskSchema,
  perform: async ({ task_id, wait_seconds }, request) => tellTask(await followTask(request, task_id, wait_seconds)),
});

const listTasks = mcpTool({
  name: 'list_tasks',
  title: 'Tasks, newest first',
  description: 'Lists tasks, newest first, with their states. Use it to find a task whose id is not known any more.',
  scope: 'read',
  readOnly: true,
  idempotent: true,
  input: strictOptions({
    status: z.array(taskStatusSchema).max(7).optional().describe('Only tasks in one of these states'),
    session_id: nameSchema.optional(),
    tool: nameSchema.optional().describe('Only tasks that have called this tool'),
    limit: z.int().min(1).max(100).default(20),
    cursor: z.string().max(500).optional().describe('Of the answer before, for the next page'),
  }),
  output: z.object({
    tasks: z.array(
      z.object({
        task_id: z.string(),
        status: taskStatusSchema,
        language: z.string().optional(),
        created_at: z.string(),
        session_id: z.string().optional(),
        error: z.string().optional(),
      }),
    ),
    cursor: z.string().optional().describe('There are more: give it to the next call'),
  }),
  async perform({ status, ...query }, { client }) {
    const { items, cursor } = await client.tasks.list({ ...withoutNulls(query), ...(status?.length ? { status: status.join(',') } : {}) });
    const tasks = items.map((task) => ({
      ...{ task_id: task.task_id, status: task.status, created_at: task.created_at },
      ...withoutNulls({ language: task.language, session_id: task.session_id }),
      ...(task.status === 'failed' ? { error: `${task.error.code}: ${task.error.message}` } : {}),
    }));
    const lines = tasks.map(({ task_id, status: state, language = 'no program yet', created_at, error = '' }) =>
      `${task_id} ${state} ${language} ${created_at} ${error}`.trimEnd(),
    );
    if (cursor !== undefined) lines.push(`there are more: cursor ${cursor}`);
    return { value: { tasks, ...(cursor === undefined ? {} : { cursor }) }, text: lines.join('\n') || 'there are none' };
  },
});

const readLog = mcpTool({
  name: 'read_log',
  title: 'What happened in a task',
  description: 'Tells what happened in a task, entry by entry: steps, calls of tools with their arguments and answers, decisions, pauses. Output is read with read_output.',
  scope: 'read',
  readOnly: true,
  idempotent: true,
  input: strictOptions({
    task_id: taskId,
    after: z.int().min(0).default(0).describe('Number of the last entry that is known already'),
    limit: z.int().min(1).max(MOST_EVENTS).default(50),
  }),
  output: z.object({
    entries: z.array(z.object({ seq: z.number(), at: z.string(), kind: z.string(), data: z.unknown() })),
    next_after: z.number().optional().describe('There may be more: give it as after; absent at the end'),
  }),
  async perform({ task_id, after, limit }, { client }) {
    const { items } = await client.tasks.journal(task_id, { after, limit });
    const entries = items.filter(({ kind }) => kind !== 'output').map(({ seq, at, kind, body }) => ({ seq, at, kind, data: withoutTexts(kind, JSON.parse(body)) }));
    const next_after = items.length < limit ? undefined : items.at(-1)?.seq;
    return {
      value: { entries, ...withoutNulls({ next_after }) },
      text: entries.map(({ seq, at, kind, data }) => `${seq} ${at} ${kind} ${shorten(data)}`).join('\n') || 'nothing more',
    };
  },
});

const readOutput = mcpTool({
  name: 'read_output',
  title: 'Read a long result or output in pieces',
  description: 'Reads the result (as JSON), stdout, stderr or code of a task, from a character on. For what get_task shows cut.',
  scope: 'read',
  readOnly: true,
  idempotent: true,
  input: strictOptions({
    task_id: taskId,
    part: z.enum(TASK_PARTS),
    offset: z.int().min(0).default(0),
    max_chars: z.int().min(1).max(100_000).default(PIECE),
  }),
  output: z.object({ text: z.string(), total_chars: z.number(), next_offset: z.number().optional().describe('Where the next piece begins; absent at the end') }),
  async perform({ task_id, part, offset, max_chars }, { client }) {
    const all = await taskText(client, task_id, part);
    const text = all.slice(offset, offset + max_chars);
    const end = offset + text.length;
    return { value: { text, total_chars: all.length, ...(end < all.length ? { next_offset: end } : {}) }, text };
  },
});

const inspectTask = mcpTool({
  name: 'inspect_task',
  title: 'Look into a stopped program',
  description: 'Looks into a program that is paused or waits: its call stack with lines and Python variables, the calls it waits for, the files it has. Looking changes nothing.',
  scope: 'read',
  readOnly: true,
  idempotent: true,
  input: strictOptions({ task_id: taskId }),
  output: z.object({
    stack: z.array(z.object({ file: z.string(), line: z.number().optional(), function: z.string(), locals: z.record(z.string(), z.string()) })),
    pending: z.array(z.object({ id: z.number(), tool: z.string(), arguments: z.unknown() })),
    files: z.array(z.object({ path: z.string(), bytes: z.number() })),
    incomplete: z.string().optional(),
  }),
  async perform({ task_id }, { client }) {
    const state = await client.tasks.state(task_id);
    const frames = state.stack.map(({ file, line, function: name, locals }) => {
      const variables = Object.entries(locals).map(([variable, value]) => `\n  ${variable} = ${value}`);
      return `${file}:${line ?? '?'} in ${name}${variables.join('')}`;
    });
    const calls = state.pending.map(({ tool, arguments: args }) => `waits for ${tool}(${shorten(args)})`);
    const files = state.files.map(({ path, bytes }) => `file ${path}, ${bytes} bytes`);
    const stack = state.stack.map(({ file, line, function: name, locals }) => ({ file, function: name, locals, ...withoutNulls({ line }) }));
    return { value: { ...state, stack }, text: [...frames, ...calls, ...files].join('\n') || 'nothing is known of it' };
  },
});

const control = { task_id: taskId, wait_seconds: waitSeconds(CONTROL_SECONDS, 'How long to wait until it is so') };

const pauseTask = mcpTool({
  name: 'pause_task',
  title: 'Pause a task',
  description: 'Stops a task wherever its program is, and keeps it: resume_task goes on from there, also after a restart of the server. Calls of tools that are under way finish.',
  scope: 'run',
  idempotent: true,
  input: strictOptions(control),
  output: shownTaskSchema,
  perform: async ({ task_id, wait_seconds }, { client }) => tellTask(await client.tasks.pause(task_id, { wait_seconds })),
});

const resumeTask = mcpTool({
  name: 'resume_task',
  title: 'Resume a task',
  description: 'Lets a paused task go on from where it was stopped. With wait_seconds it waits for its end, as get_task does.',
  scope: 'run',
  idempotent: true,
  openWorld: true,
  input: strictOptions({ task_id: taskId, wait_seconds: waitSeconds(0, 'How long to wait for its end') }),
  output: shownTaskSchema,
  async perform({ task_id, wait_seconds }, request) {
    const resumed = await request.client.tasks.resume(task_id);
    return tellTask(wait_seconds > 0 ? await followTask(request, task_id, wait_seconds) : resumed);
  },
});

const cancelTask = mcpTool({
  name: 'cancel_task',
  title: 'Cancel a task',
  description: 'Ends a task for good. What it has done through tools stays done. To be able to go on later, use pause_task.',
  scope: 'run',
  destructive: true,
  idempotent: true,
  input: strictOptions(control),
  output: shownTaskSchema,
  perform: async ({ task_id, wait_seconds }, { client }) => tellTask(await client.tasks.cancel(task_id, { wait_seconds })),
});

export const taskTools = [getTask, listTasks, readLog, readOutput, inspectTask, pauseTask, resumeTask, cancelTask];

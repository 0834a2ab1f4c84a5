/** Calls that wait for somebody: approvals, results that only the caller can give, calls of which nobody knows the outcome. */
import { FermataError } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { type CallWire, nameSchema, recordSchema, valueSchema } from '@fermata/protocol/wire';
import { z } from 'zod';
import { questionOf } from '../follow-task.ts';
import { type McpRequest, mcpTool } from '../mcp-tool.ts';
import { withoutNulls, withoutUndefined } from '../present.ts';
import { shorten } from '../shown-task.ts';

const KINDS = ['approval', 'review', 'client_tool', 'outcome_unknown'] as const;

const call = { task_id: nameSchema, call_id: nameSchema.describe('As the task tells it in waiting_for') };
const settledSchema = z.object({
  call_id: z.string(),
  tool: z.string(),
  status: z.string(),
  arguments: z.unknown().optional(),
  by: z.string().optional().describe('Who decided'),
});

const listWaitingCalls = mcpTool({
  name: 'list_waiting_calls',
  title: 'Calls that wait for somebody',
  description: 'Lists the calls of all tasks that wait for somebody: for an approval, a review, a result that only the caller can give, or word on what became of them.',
  scope: 'read',
  readOnly: true,
  idempotent: true,
  input: strictOptions({
    kinds: z.array(z.enum(KINDS)).max(KINDS.length).optional().describe('Default: all'),
    limit: z.int().min(1).max(100).default(50),
    cursor: z.string().max(500).optional().describe('Of the answer before, for the next page'),
  }),
  output: z.object({
    calls: z.array(
      z.object({ task_id: z.string(), call_id: z.string(), tool: z.string(), kind: z.string().optional(), arguments: z.unknown().optional(), expires_at: z.string().optional() }),
    ),
    cursor: z.string().optional(),
  }),
  async perform({ kinds, limit, cursor: from }, { client }) {
    const { items, cursor } = await client.approvals({ kind: (kinds?.length ? kinds : KINDS).join(','), limit, ...(from === undefined ? {} : { cursor: from }) });
    const calls = items.map(({ task_id, call_id, tool, waits_for, arguments: args, expires_at }) => ({
      ...{ task_id, call_id, tool },
      ...withoutNulls({ kind: waits_for, arguments: args, expires_at }),
    }));
    const lines = calls.map(({ task_id, call_id, tool, kind, arguments: args }) => `${kind}: ${tool}(${shorten(args)}), task_id ${task_id}, call_id ${call_id}`);
    return { value: { calls, ...(cursor === undefined ? {} : { cursor }) }, text: lines.join('\n') || 'none waits' };
  },
});

const approveCall = mcpTool({
  name: 'approve_call',
  title: 'Approve a call',
  description:
    "Allows a call that waits for approval, with other arguments if need be, or confirms a value that waits for review. This is the user's decision: ask them first, and never decide for them. Where the client can ask its user, the server asks them again.",
  scope: 'approve',
  destructive: true,
  idempotent: true,
  openWorld: true,
  input: strictOptions({
    ...call,
    arguments: recordSchema.optional().describe("In the place of the program's own"),
    value: valueSchema.optional().describe('Of a review: the value that the program goes on with'),
    comment: z.string().max(10_000).optional(),
  }),
  output: settledSchema,
  async perform({ task_id, call_id, ...given }, request) {
    const decision = withoutUndefined(given);
    const waiting = await callOf(request, task_id, call_id);
    if (request.ask && waiting.waits_for !== null) {
      const args = given.arguments ?? ('value' in decision ? { value: given.value } : waiting.arguments);
      const said = await request.ask(questionOf({ kind: waiting.waits_for, tool: waiting.tool, arguments: args }), request.signal);
      request.signal.throwIfAborted();
      if (!said) throw new FermataError('invalid_state', 'the user was asked and has not decided; the call still waits', { hint: 'Ask the user in the conversation.' });
      if (!said.approve) return told(await request.client.calls.reject(task_id, call_id, { reason: said.reason }), 'the user rejected it');
    }
    return told(await request.client.calls.approve(task_id, call_id, decision), 'approved');
  },
});

const rejectCall = mcpTool({
  name: 'reject_call',
  title: 'Reject a call',
  description: 'Refuses a call that waits for approval, or a value that waits for review. The program sees it as an exception with the reason.',
  scope: 'approve',
  idempotent: true,
  input: strictOptions({ ...call, reason: z.string().max(10_000).optional().describe('Why; the program is told') }),
  output: settledSchema,
  perform: async ({ task_id, call_id, reason }, { client }) => told(await client.calls.reject(task_id, call_id, reason === undefined ? {} : { reason }), 'rejected'),
});

const answerCall = mcpTool({
  name: 'answer_call',
  title: 'Give the result of a call',
  description:
    'Gives the result of a call of a client tool, which you or the user have carried out; or, of a call of which nobody knows whether it was done, says how it ended or has it done again. Give exactly one of output, error and retry.',
  scope: 'run',
  destructive: true,
  openWorld: true,
  input: strictOptions({
    ...call,
    output: valueSchema.optional().describe('What the tool returned: any JSON'),
    error: strictOptions({ message: z.string(), name: z.string().optional() }).optional().describe('It failed; the program sees an exception'),
    retry: z.literal(true).optional().describe('Have a call of unknown outcome done again; its effect may happen twice'),
  }),
  output: settledSchema,
  async perform({ task_id, call_id, ...given }, request) {
    const ways = (['output', 'error', 'retry'] as const).filter((key) => given[key] !== undefined);
    if (ways.length !== 1) throw new FermataError('invalid_request', `give exactly one of output, error and retry${ways.length ? `, not ${ways.join(' and ')}` : ''}`);
    const { waits_for } = await callOf(request, task_id, call_id);
    if (waits_for !== null && waits_for !== 'client_tool' && !request.may('approve')) {
      throw new FermataError('forbidden', `a call that waits for ${waits_for} is for a person to settle`, { hint: 'Tell the user its task_id and call_id.' });
    }
    const { calls } = request.client;
    if (given.retry) return told(await calls.retry(task_id, call_id), 'it is done again');
    const { error } = given;
    const result = error ? { error: { message: error.message, ...(error.name === undefined ? {} : { name: error.name }) } } : { output: given.output };
    return told(await calls.result(task_id, call_id, result), 'answered');
  },
});

async function callOf({ client }: McpRequest, taskId: string, callId: string): Promise<CallWire> {
  const found = (await client.calls.list(taskId)).find(({ call_id }) => call_id === callId);
  if (!found) throw new FermataError('not_found', `the task has no call ${callId}`, { hint: 'get_task tells the calls that it waits for.' });
  return found;
}

function told({ call_id, tool, status, arguments: args, edited_arguments, by }: CallWire, what: string) {
  const value = { call_id, tool, status, ...withoutNulls({ arguments: edited_arguments ?? args, by }) };
  return { value, text: `${tool}, ${call_id}: ${what}. get_task with wait_seconds tells how the task goes on.` };
}

export const callTools = [listWaitingCalls, approveCall, rejectCall, answerCall];

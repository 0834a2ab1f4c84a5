/** Calls of a task, decisions on them, and the inbox of those that wait for one. */

import type { Decision } from '@fermata/engine';
import { FermataError, type WaitKind } from '@fermata/protocol';
import { approvalPageSchema, approvalQuerySchema, approveSchema, callResultSchema, callSchema, callsSchema, rejectSchema } from '@fermata/protocol/wire';
import { createRoute } from '@hono/zod-openapi';
import { needs } from '../auth/authenticate.ts';
import { mustHave, type Scope } from '../auth/caller.ts';
import { body, callParams, json, newRoutes, problems, taskParams } from '../new-routes.ts';
import type { ServerContext } from '../server-options.ts';
import { showCall, showPage } from '../show/parts.ts';

const tags = ['Calls'];
const KINDS: readonly WaitKind[] = ['approval', 'review', 'client_tool', 'outcome_unknown'];

const list = createRoute({
  method: 'get',
  path: '/tasks/{id}/calls',
  tags,
  summary: 'Calls of a task, in the order of their start',
  ...needs('read'),
  request: { params: taskParams },
  responses: { 200: json(callsSchema, 'All of them'), ...problems(404) },
});

const decided = { 200: json(callSchema, 'The call as it is now; the same decision again is no error'), ...problems(404, 409, 415, 422) };

const approve = createRoute({
  method: 'post',
  path: '/tasks/{id}/calls/{call_id}/approve',
  tags,
  summary: 'Approve a call, with other arguments if need be, or confirm a review',
  ...needs('approve'),
  request: { params: callParams, body: body(approveSchema, false) },
  responses: decided,
});
const reject = createRoute({
  method: 'post',
  path: '/tasks/{id}/calls/{call_id}/reject',
  tags,
  summary: 'Reject a call or a review; the program sees the reason',
  ...needs('approve'),
  request: { params: callParams, body: body(rejectSchema, false) },
  responses: decided,
});
const result = createRoute({
  method: 'post',
  path: '/tasks/{id}/calls/{call_id}/result',
  tags,
  summary: 'The result of a client tool, or how a call of unknown outcome ended',
  description: 'Of a client tool this needs the scope `run`, of a call of unknown outcome `approve`.',
  security: [{ apiKey: ['run'] }, { apiKey: ['approve'] }],
  request: { params: callParams, body: body(callResultSchema) },
  responses: decided,
});
const retry = createRoute({
  method: 'post',
  path: '/tasks/{id}/calls/{call_id}/retry',
  tags,
  summary: 'Carry out a call of unknown outcome again; its effect may happen twice',
  ...needs('approve'),
  request: { params: callParams },
  responses: decided,
});

const inbox = createRoute({
  method: 'get',
  path: '/approvals',
  tags,
  summary: 'Calls that wait for somebody, over all tasks, oldest first',
  ...needs('read'),
  request: { query: approvalQuerySchema },
  responses: { 200: json(approvalPageSchema, 'One page'), ...problems(422) },
});

export function callRoutes({ engine }: ServerContext) {
  const routes = newRoutes();

  routes.openapi(list, async (c) => {
    const calls = await engine.calls({ tenant: c.get('caller').tenant, taskId: c.req.valid('param').id });
    return c.json({ items: calls.map(showCall) }, 200);
  });

  routes.openapi(approve, async (c) => {
    const { tenant, by } = c.get('caller');
    const { id, call_id: callId } = c.req.valid('param');
    const given = c.req.valid('json');
    const decision: Decision = { action: 'approve' };
    if (given.arguments !== undefined) decision.arguments = given.arguments;
    if ('value' in given) decision.value = given.value;
    if (given.comment !== undefined) decision.comment = given.comment;
    return c.json(showCall(await engine.decide({ tenant, taskId: id }, callId, decision, by)), 200);
  });

  routes.openapi(reject, async (c) => {
    const { tenant, by } = c.get('caller');
    const { id, call_id: callId } = c.req.valid('param');
    const { reason } = c.req.valid('json');
    const decision: Decision = { action: 'reject', ...(reason === undefined ? {} : { reason }) };
    return c.json(showCall(await engine.decide({ tenant, taskId: id }, callId, decision, by)), 200);
  });

  routes.openapi(result, async (c) => {
    const caller = c.get('caller');
    const { id, call_id: callId } = c.req.valid('param');
    const ref = { tenant: caller.tenant, taskId: id };
    const call = (await engine.calls(ref)).find((candidate) => candidate.callId === callId);
    if (!call) throw new FermataError('not_found', `the task has no call ${callId}`);
    mustHave(caller, neededFor(call.waitsFor));
    const { output, error } = c.req.valid('json');
    const decision: Decision = error ? { action: 'error', error: withoutUndefined(error) } : { action: 'result', output };
    return c.json(showCall(await engine.decide(ref, callId, decision, caller.by)), 200);
  });

  routes.openapi(retry, async (c) => {
    const { tenant, by } = c.get('caller');
    const { id, call_id: callId } = c.req.valid('param');
    return c.json(showCall(await engine.decide({ tenant, taskId: id }, callId, { action: 'retry' }, by)), 200);
  });

  routes.openapi(inbox, async (c) => {
    const { kind, cursor, limit = 50 } = c.req.valid('query');
    const kinds = kind?.split(',').map(kindNamed);
    const page = await engine.inbox(c.get('caller').tenant, { ...(kinds ? { kinds } : {}), ...(cursor === undefined ? {} : { cursor }), limit });
    return c.json(
      showPage(page, (call) => ({ task_id: call.taskId, ...showCall(call) })),
      200,
    );
  });
  return routes;
}

/** Settling what nobody knows is a decision; posting what a tool returned is part of the work. */
function neededFor(waitsFor: WaitKind | null): Scope {
  return waitsFor === 'outcome_unknown' || waitsFor === 'approval' || waitsFor === 'review' ? 'approve' : 'run';
}

function kindNamed(name: string): WaitKind {
  const found = KINDS.find((kind) => kind === name.trim());
  if (found) return found;
  throw new FermataError('invalid_request', `query.kind: there is no kind ${JSON.stringify(name)}; there is ${KINDS.join(', ')}`);
}

function withoutUndefined({ name, message, data }: { name?: string | undefined; message: string; data?: unknown }) {
  return { message, ...(name === undefined ? {} : { name }), ...(data === undefined ? {} : { data }) };
}

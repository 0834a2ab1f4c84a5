/** What changes a task: pause, resume, cancel, checkpoints, fork; and verifying one. */

import type { TaskView } from '@fermata/engine';
import { type CallResult, ENDED, FermataError, fromWire, type TaskRef, type Value } from '@fermata/protocol';
import { checkpointSchema, checkpointsSchema, codeConstraintsOf, controlSchema, forkSchema, limitsOf, taskSchema, verifiedSchema } from '@fermata/protocol/wire';
import { createRoute } from '@hono/zod-openapi';
import type { z } from 'zod';
import { needs } from '../auth/authenticate.ts';
import { body, idempotencyHeaders, json, newRoutes, problems, taskParams } from '../new-routes.ts';
import type { ServerContext } from '../server-options.ts';
import { showCheckpoint } from '../show/parts.ts';
import { mustAccept } from './task-bodies.ts';
import { shownTask } from './tasks.ts';

const tags = ['Tasks'];
const params = taskParams;

const control = createRoute({
  method: 'post',
  path: '/tasks/{id}/control',
  tags,
  summary: 'Pause, resume or cancel a task',
  description: 'Answers when the state is true, or 202 after `wait_seconds`. Asking for the state that already holds is no error.',
  ...needs('run'),
  request: { params, body: body(controlSchema) },
  responses: { 200: json(taskSchema, 'It is so'), 202: json(taskSchema, 'It was asked for, and is not so yet'), ...problems(404, 409, 415, 422, 429, 503) },
});

const listCheckpoints = createRoute({
  method: 'get',
  path: '/tasks/{id}/checkpoints',
  tags,
  summary: 'Checkpoints, newest first',
  ...needs('read'),
  request: { params },
  responses: { 200: json(checkpointsSchema, 'All of them'), ...problems(404) },
});

const takeCheckpoint = createRoute({
  method: 'post',
  path: '/tasks/{id}/checkpoints',
  tags,
  summary: 'Take a checkpoint now',
  ...needs('run'),
  request: { params, headers: idempotencyHeaders },
  responses: { 201: json(checkpointSchema, 'It is stored'), ...problems(404, 409, 503) },
});

const fork = createRoute({
  method: 'post',
  path: '/tasks/{id}/fork',
  tags,
  summary: 'A new task from a checkpoint, or with other answers to calls',
  ...needs('run'),
  request: { params, body: body(forkSchema, false), headers: idempotencyHeaders },
  responses: { 201: json(taskSchema, 'The new task'), ...problems(404, 409, 415, 422, 503) },
});

const verify = createRoute({
  method: 'post',
  path: '/tasks/{id}/verify',
  tags,
  summary: 'Replay an ended task from its journal and compare',
  ...needs('run'),
  request: { params },
  responses: { 200: json(verifiedSchema, 'What came out differently'), ...problems(404, 409, 503) },
});

export function taskControlRoutes(server: ServerContext) {
  const { engine } = server;
  const routes = newRoutes();

  routes.openapi(control, async (c) => {
    const { tenant, by } = c.get('caller');
    const { action, wait_seconds: waitSeconds } = c.req.valid('json');
    const ref = { tenant, taskId: c.req.valid('param').id };
    const task = await server.open.during(tenant, () => controlled(server, ref, action, waitSeconds * 1000, by));
    return c.json(await shownTask(server, task), holds(task, action) ? 200 : 202);
  });

  routes.openapi(listCheckpoints, async (c) => {
    const rows = await engine.checkpoints({ tenant: c.get('caller').tenant, taskId: c.req.valid('param').id });
    return c.json({ items: rows.map(showCheckpoint) }, 200);
  });

  routes.openapi(takeCheckpoint, async (c) => {
    const { tenant, by } = c.get('caller');
    const { id } = c.req.valid('param');
    const claim = await server.idempotency.claim(tenant, c.req.valid('header')['idempotency-key'], `/tasks/${id}/checkpoints`, {});
    if (claim?.result) return c.json(claim.result as z.output<typeof checkpointSchema>, 201);
    const shown = showCheckpoint(await engine.checkpoint({ tenant, taskId: id }, by));
    await claim?.settle(shown);
    return c.json(shown, 201);
  });

  routes.openapi(fork, async (c) => {
    const { tenant, by } = c.get('caller');
    mustAccept(server);
    const given = c.req.valid('json');
    const ref = { tenant, taskId: c.req.valid('param').id };
    const options = forkOptions(given);
    const claim = await server.idempotency.claim(tenant, c.req.valid('header')['idempotency-key'], `/tasks/${ref.taskId}/fork`, given);
    const taskId = given.task_id ?? (claim && `task_${claim.token}`);
    const before = claim?.repeat && taskId !== undefined ? await forkBefore(server, { tenant, taskId }) : undefined;
    const task = before ?? (await engine.fork(ref, { ...options, ...(taskId === undefined ? {} : { taskId }), by }));
    return c.json(await shownTask(server, task), 201);
  });

  routes.openapi(verify, async (c) => {
    const { tenant } = c.get('caller');
    const found = await server.open.during(tenant, () => engine.verify({ tenant, taskId: c.req.valid('param').id }));
    return c.json(found, 200);
  });
  return routes;
}

/** The task once what was asked for is true or the time is over; throws `invalid_state` where it has ended otherwise. */
export async function controlled({ engine }: ServerContext, ref: TaskRef, action: 'pause' | 'resume' | 'cancel', waitMs: number, by: string): Promise<TaskView> {
  const task = action === 'resume' ? await engine.resume(ref, { by }) : await engine[action](ref, { waitMs, by });
  if (!ENDED.includes(task.status) || holds(task, action)) return task;
  throw new FermataError('invalid_state', `the task has ended: it is ${task.status}`);
}

export function holds({ status, desired }: TaskView, action: 'pause' | 'resume' | 'cancel'): boolean {
  if (action === 'resume') return desired === 'run' && status !== 'paused';
  return status === (action === 'pause' ? 'paused' : 'cancelled');
}

function forkOptions(given: z.output<typeof forkSchema>) {
  const { tool_constraints: constraints = {}, answers, checkpoint_id: checkpointId } = given;
  if (Object.keys(codeConstraintsOf(constraints)).length > 0) {
    throw new FermataError('invalid_request', 'tool_constraints: a fork can be given other limits only; what its code may do stays as it was');
  }
  const limits = limitsOf(constraints);
  return {
    ...(checkpointId === undefined ? {} : { checkpointId }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(answers === undefined ? {} : { answers: Object.fromEntries(Object.entries(answers).map(([callId, answer]) => [callId, resultOf(answer, callId)])) }),
  };
}

type Answer = NonNullable<z.output<typeof forkSchema>['answers']>[string];

function resultOf(answer: Answer, callId: string): CallResult {
  if (!('error' in answer)) return { ok: valueBehind(answer.output, `answers.${callId}.output`) };
  const { name = 'ToolError', message, data } = answer.error;
  return { error: { name, message, ...(data === undefined ? {} : { data: valueBehind(data, `answers.${callId}.error.data`) }) } };
}

function valueBehind(wire: unknown, at: string): Value {
  try {
    return fromWire(wire, at);
  } catch (error) {
    throw new FermataError('invalid_request', (error as Error).message);
  }
}

async function forkBefore({ engine }: ServerContext, ref: TaskRef): Promise<TaskView | undefined> {
  try {
    return await engine.task(ref);
  } catch (error) {
    if (error instanceof FermataError && error.code === 'not_found') return undefined;
    throw error;
  }
}

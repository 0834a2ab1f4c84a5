/** Tasks: create, get, list, delete. */

import type { TaskFilter, TaskView } from '@fermata/engine';
import { ENDED, FermataError, type TaskStatus } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { createdTaskSchema, createTaskSchema, type LogLineWire, type TaskWire, taskPageSchema, taskQuerySchema, taskSchema, taskStatusSchema } from '@fermata/protocol/wire';
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { needs } from '../auth/authenticate.ts';
import { body, idempotencyHeaders, json, newRoutes, problems, taskParams } from '../new-routes.ts';
import type { ServerContext } from '../server-options.ts';
import { showPage } from '../show/parts.ts';
import { showListed, showLog, showTask } from '../show/task.ts';
import { showTime } from '../show/time.ts';
import { mustAccept, requestOf } from './task-bodies.ts';

const LOG_ENTRIES = 1000;
const tags = ['Tasks'];

const create = createRoute({
  method: 'post',
  path: '/tasks',
  tags,
  summary: 'Create a task',
  description: 'With `wait_seconds` the answer is the whole task, when it has ended, is paused or waits for somebody, or when that time is over.',
  ...needs('run'),
  request: { body: body(createTaskSchema), headers: idempotencyHeaders },
  responses: { 201: json(z.union([createdTaskSchema, taskSchema]), 'Created'), ...problems(409, 413, 415, 422, 429, 503) },
});

const get = createRoute({
  method: 'get',
  path: '/tasks/{id}',
  tags,
  summary: 'A task in its present state',
  description: 'With `wait_seconds` the answer comes when it has ended, is paused or waits for somebody, or when that time is over.',
  ...needs('read'),
  request: { params: taskParams, query: strictOptions({ wait_seconds: z.coerce.number().min(0).max(600).optional() }) },
  responses: { 200: json(taskSchema, 'The task'), ...problems(404, 422, 429) },
});

const list = createRoute({
  method: 'get',
  path: '/tasks',
  tags,
  summary: 'Tasks, newest first',
  ...needs('read'),
  request: { query: taskQuerySchema },
  responses: { 200: json(taskPageSchema, 'One page'), ...problems(422) },
});

const purge = createRoute({
  method: 'delete',
  path: '/tasks/{id}',
  tags,
  summary: 'Purge a task that has ended',
  description: 'Code, output, results, checkpoints and files are gone afterwards; a tombstone is kept.',
  ...needs('admin'),
  request: { params: taskParams },
  responses: { 204: { description: 'Gone' }, ...problems(404, 409) },
});

export function taskRoutes(server: ServerContext) {
  const { engine } = server;
  const routes = newRoutes();

  routes.openapi(create, async (c) => {
    const { tenant, by } = c.get('caller');
    mustAccept(server);
    const { wait_seconds: waitSeconds = 0, ...given } = c.req.valid('json');
    const request = await requestOf(server, tenant, given);
    const place = { path: '/tasks', prefix: 'task', chosen: given.task_id };
    const task = await server.idempotency.once(tenant, c.req.valid('header')['idempotency-key'], place, (taskId) =>
      engine.submit(tenant, request, { ...(taskId === undefined ? {} : { taskId }), by }),
    );
    if (waitSeconds === 0) return c.json({ task_id: task.taskId, status: task.status, created_at: showTime(task.createdAt) }, 201);
    return c.json(await shownTask(server, await waited(server, task, waitSeconds, c.req.raw.signal)), 201);
  });

  routes.openapi(get, async (c) => {
    const task = await engine.task({ tenant: c.get('caller').tenant, taskId: c.req.valid('param').id });
    const { wait_seconds: waitSeconds = 0 } = c.req.valid('query');
    const shown = waitSeconds > 0 ? await waited(server, task, waitSeconds, c.req.raw.signal) : task;
    return c.json(await shownTask(server, shown), 200);
  });

  routes.openapi(list, async (c) => {
    const page = await engine.tasks(c.get('caller').tenant, filterOf(c.req.valid('query')));
    return c.json(showPage(page, showListed), 200);
  });

  routes.openapi(purge, async (c) => {
    const { tenant, by } = c.get('caller');
    await engine.purge({ tenant, taskId: c.req.valid('param').id }, by);
    return c.body(null, 204);
  });
  return routes;
}

/** The task once it needs somebody, or when the time is over. */
export async function waited(server: ServerContext, { tenant, taskId }: TaskView, seconds: number, signal: AbortSignal): Promise<TaskView> {
  return server.open.during(tenant, () => server.engine.wait({ tenant, taskId }, seconds * 1000, signal));
}

/** The task with what happened in it, where it has ended. */
export async function shownTask(server: ServerContext, task: TaskView): Promise<TaskWire> {
  return showTask(task, ENDED.includes(task.status) ? await logOf(server, task) : undefined);
}

export async function logOf({ engine }: ServerContext, { tenant, taskId }: TaskView): Promise<LogLineWire[]> {
  return showLog(await engine.journal({ tenant, taskId }, 0, LOG_ENTRIES));
}

function filterOf(query: z.output<typeof taskQuerySchema>): TaskFilter {
  const filter: TaskFilter = {};
  if (query.status !== undefined) filter.status = query.status.split(',').map(statusNamed);
  if (query.session_id !== undefined) filter.sessionId = query.session_id;
  if (query.batch_id !== undefined) filter.batchId = query.batch_id;
  if (query.tool !== undefined) filter.tool = query.tool;
  if (query.created_after !== undefined) filter.createdAfter = Date.parse(query.created_after);
  if (query.cursor !== undefined) filter.cursor = query.cursor;
  filter.limit = query.limit ?? 50;
  return filter;
}

function statusNamed(name: string): TaskStatus {
  const parsed = taskStatusSchema.safeParse(name.trim());
  if (parsed.success) return parsed.data;
  throw new FermataError('invalid_request', `query.status: there is no status ${JSON.stringify(name)}; there is ${taskStatusSchema.options.join(', ')}`);
}

/** Looking into a task: its code, log, journal and the state of its stopped program. */

import { programRequest, toWire } from '@fermata/protocol';
import { journalQuerySchema, journalSchema, taskCodeSchema, taskLogSchema, taskStateSchema } from '@fermata/protocol/wire';
import { createRoute } from '@hono/zod-openapi';
import { needs } from '../auth/authenticate.ts';
import { json, newRoutes, problems, taskParams } from '../new-routes.ts';
import type { ServerContext } from '../server-options.ts';
import { showTime } from '../show/time.ts';
import { logOf } from './tasks.ts';

const tags = ['Tasks'];
const params = taskParams;

const code = createRoute({
  method: 'get',
  path: '/tasks/{id}/code',
  tags,
  summary: 'The program of a task',
  ...needs('read'),
  request: { params },
  responses: { 200: json(taskCodeSchema, 'The code'), ...problems(404) },
});

const log = createRoute({
  method: 'get',
  path: '/tasks/{id}/log',
  tags,
  summary: 'What a task has printed, and what happened in it',
  ...needs('read'),
  request: { params },
  responses: { 200: json(taskLogSchema, 'So far'), ...problems(404) },
});

const journal = createRoute({
  method: 'get',
  path: '/tasks/{id}/journal',
  tags,
  summary: 'The journal, entry by entry, chained by hash',
  ...needs('read'),
  request: { params, query: journalQuerySchema },
  responses: { 200: json(journalSchema, 'Entries after `after`, in order'), ...problems(404, 422) },
});

const state = createRoute({
  method: 'get',
  path: '/tasks/{id}/state',
  tags,
  summary: 'Stack, variables, pending calls and files of a stopped task',
  description: 'Read from a copy: looking changes nothing.',
  ...needs('read'),
  request: { params },
  responses: { 200: json(taskStateSchema, 'What was found'), ...problems(404, 409, 503) },
});

export function taskPartRoutes(server: ServerContext) {
  const { engine } = server;
  const routes = newRoutes();

  routes.openapi(code, async (c) => {
    const task = await engine.task({ tenant: c.get('caller').tenant, taskId: c.req.valid('param').id });
    const { toolCall, instruction } = task.request;
    const { language = null, code = null } = programRequest(task) ?? {};
    const versions = (await engine.programs(task)).map(({ createdAt, ...version }) => ({ ...version, created_at: showTime(createdAt) }));
    const asked = { ...(instruction === undefined ? {} : { instruction }), ...(toolCall ? { tool_call: toolCall } : {}) };
    return c.json({ task_id: task.taskId, language, code, ...asked, versions }, 200);
  });

  routes.openapi(log, async (c) => {
    const task = await engine.task({ tenant: c.get('caller').tenant, taskId: c.req.valid('param').id });
    const { taskId, stdout, stderr, truncated } = task;
    return c.json({ task_id: taskId, stdout, stderr, truncated, execution_log: await logOf(server, task) }, 200);
  });

  routes.openapi(journal, async (c) => {
    const { after, limit } = c.req.valid('query');
    const entries = await engine.journal({ tenant: c.get('caller').tenant, taskId: c.req.valid('param').id }, after, limit);
    return c.json({ items: entries.map(({ seq, at, kind, body, hash }) => ({ seq, at: showTime(at), kind, body, hash })) }, 200);
  });

  routes.openapi(state, async (c) => {
    const { stack, pending, files, incomplete } = await engine.inspect({ tenant: c.get('caller').tenant, taskId: c.req.valid('param').id });
    const calls = pending.map(({ id, name, args }) => ({ id, tool: name, arguments: toWire(args) }));
    return c.json({ stack, pending: calls, files, ...(incomplete === undefined ? {} : { incomplete }) }, 200);
  });
  return routes;
}

/**
 * The events of a task as server-sent events.
 *
 * Every recorded event has its number as `id`, so that a reader who was cut off goes on where it was (`Last-Event-ID`). The
 * last event is `end` where the task has ended, or `shutdown` where the server closes and the reader should come again.
 */

import { ENDED } from '@fermata/protocol';
import { eventsQuerySchema } from '@fermata/protocol/wire';
import { createRoute, z } from '@hono/zod-openapi';
import { streamSSE } from 'hono/streaming';
import { needs } from '../auth/authenticate.ts';
import { newRoutes, problems, taskParams } from '../new-routes.ts';
import { problemOf } from '../problem.ts';
import type { ServerContext } from '../server-options.ts';
import { familyOf, showEvent } from '../show/parts.ts';

const RECONNECT_MS = 1000;

const events = createRoute({
  method: 'get',
  path: '/tasks/{id}/events',
  tags: ['Tasks'],
  summary: 'What happens in a task, as it happens',
  description: 'Server-sent events, named state, output, call, checkpoint, step or model; the data of each is a TaskEvent. 204 where the task has ended and all is told.',
  ...needs('read'),
  request: {
    params: taskParams,
    query: eventsQuerySchema,
    headers: z.object({ 'last-event-id': z.coerce.number().int().min(0).optional().meta({ description: 'Goes on after this event' }) }),
  },
  responses: {
    200: { description: 'The stream', content: { 'text/event-stream': { schema: z.string() } } },
    204: { description: 'The task has ended, and there is nothing to tell' },
    ...problems(404, 422, 429),
  },
});

export function taskEventRoutes(server: ServerContext) {
  const { engine, draining, heartbeatMs } = server;
  const routes = newRoutes();

  routes.openapi(events, async (c) => {
    const { tenant } = c.get('caller');
    const ref = { tenant, taskId: c.req.valid('param').id };
    const { after: asked, live = 'true' } = c.req.valid('query');
    const after = c.req.valid('header')['last-event-id'] ?? asked ?? 0;
    const task = await engine.task(ref);
    if (ENDED.includes(task.status) && after >= task.seq) return c.body(null, 204);
    const leave = server.open.enter(tenant);
    const gone = new AbortController();
    c.header('Cache-Control', 'no-store');
    c.header('X-Accel-Buffering', 'no');
    return streamSSE(c, async (stream) => {
      stream.onAbort(() => gone.abort());
      const beat = setInterval(() => void stream.write(': heartbeat\n\n').catch(() => gone.abort()), heartbeatMs);
      try {
        await stream.write(`retry: ${RECONNECT_MS}\n\n`);
        const signal = AbortSignal.any([gone.signal, draining]);
        for await (const event of engine.events(ref, { after, live: live === 'true', signal })) {
          await stream.writeSSE({ event: familyOf(event.kind), data: JSON.stringify(showEvent(event)), ...(event.seq === null ? {} : { id: String(event.seq) }) });
        }
        await last(ref);
      } catch (error) {
        if (draining.aborted) await last(ref);
        else if (!gone.signal.aborted) {
          server.onError(error, 'events');
          await stream.writeSSE({ event: 'error', data: JSON.stringify(problemOf(error)) });
        }
      } finally {
        clearInterval(beat);
        leave();
      }
      async function last(of: typeof ref) {
        if (gone.signal.aborted) return;
        const status = draining.aborted ? undefined : (await engine.task(of)).status;
        const ended = status !== undefined && ENDED.includes(status);
        await stream.writeSSE({ event: ended ? 'end' : 'shutdown', data: JSON.stringify(ended ? { status } : {}) });
      }
    });
  });
  return routes;
}

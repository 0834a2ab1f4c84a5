/** Events as they happen: every recorded one once, in order, also for a reader who was cut off; and an end that says why. */
import { eventSchema } from '@fermata/protocol/wire';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Listening, listening } from './listening.ts';

let at: Listening;
beforeAll(async () => {
  at = await listening({ heartbeatMs: 40 });
});
afterAll(() => at.close());

interface Told {
  id?: string;
  event?: string;
  data?: string;
  comment?: string;
}

async function* stream(from: Listening, id: string, headers: Record<string, string> = {}, query = '', signal?: AbortSignal): AsyncGenerator<Told> {
  const response = await fetch(`${from.url}/api/v1/tasks/${id}/events${query}`, { headers: { authorization: `Bearer ${from.key}`, ...headers }, ...(signal ? { signal } : {}) });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      yield Object.fromEntries(
        lines.map((line) => (line.startsWith(':') ? ['comment', line.slice(1).trim()] : [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])),
      );
    }
  }
}

async function all(events: AsyncGenerator<Told>): Promise<Told[]> {
  const told: Told[] = [];
  for await (const event of events) if (event.event) told.push(event);
  return told;
}

test('what is recorded comes first, then what happens, then the end', async () => {
  await at.run({ call: { tool: 't', args: {}, kind: 'client_tool' } }, { task_id: 'live' });
  const telling = all(stream(at, 'live'));
  await at.ask('POST', '/api/v1/tasks/live/calls/call_1/result', { json: { output: 1 } });
  const told = await telling;
  expect(told.map(({ event }) => event)).toEqual(['state', 'state', 'state', 'call', 'state', 'state', 'end']);
  expect(told.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5', '6', undefined]);
  expect(told.slice(0, -1).map(({ data }) => eventSchema.parse(JSON.parse(data ?? '')).kind)).toEqual(['submitted', 'state', 'state', 'call', 'state', 'state']);
  expect(JSON.parse(told.at(-1)?.data ?? '')).toEqual({ status: 'succeeded' });
});

test('a reader goes on after the last event that it has seen, by header or query', async () => {
  expect((await all(stream(at, 'live', { 'last-event-id': '4' }))).map(({ id }) => id)).toEqual(['5', '6', undefined]);
  expect((await all(stream(at, 'live', {}, '?after=5'))).map(({ id }) => id)).toEqual(['6', undefined]);
  expect(await at.ask('GET', '/api/v1/tasks/live/events', { headers: { 'last-event-id': '6' } })).toMatchObject({ status: 204, body: '' });
  expect(await at.ask('GET', '/api/v1/tasks/live/events', { headers: { 'last-event-id': 'x' } })).toMatchObject({ status: 422 });
  expect(await at.ask('GET', '/api/v1/tasks/none/events')).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

test('silence is filled with comments, and a reader who leaves is forgotten', async () => {
  await at.run({ hold: true }, { task_id: 'silent', wait_seconds: 0 });
  const gone = new AbortController();
  let beats = 0;
  await expect(async () => {
    for await (const { comment } of stream(at, 'silent', {}, '', gone.signal)) {
      if (comment === 'heartbeat' && ++beats === 3) gone.abort();
    }
  }).rejects.toThrow(/abort/);
  expect(beats).toBe(3);
});

test('a server that closes ends its streams with a last event, so that readers come again', async () => {
  const closing = await listening();
  await closing.run({ hold: true }, { task_id: 'held', wait_seconds: 0 });
  const telling = all(stream(closing, 'held'));
  await new Promise((resolve) => setTimeout(resolve, 100));
  await closing.close();
  expect((await telling).at(-1)).toMatchObject({ event: 'shutdown' });
});

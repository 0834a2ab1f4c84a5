/** A server in the same process is as good to the client as one behind a socket. */
import { createClient, fetchFrom } from '@fermata/client';
import { expect, test } from 'vitest';
import { listening } from '../../server/test/listening.ts';

const HOLD = { language: 'javascript' as const, code: '{"hold": true}' };

test('a request that is aborted is broken off: one that waits, one that streams, and one that has not begun', async () => {
  const at = await listening({ maxOpenRequests: 1 });
  try {
    const { tasks } = createClient({ url: 'http://localhost', key: at.key, retries: 0, fetch: fetchFrom(at.server.fetch) });
    const { task_id: id } = await tasks.create(HOLD);
    // Only one may be open: each next one shows that the one before is not any more.
    for (let round = 0; round < 3; round++) {
      const stop = new AbortController();
      const waiting = tasks.wait(id, { signal: stop.signal });
      setTimeout(() => stop.abort(), 20);
      await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
      const seen: string[] = [];
      const left = new AbortController();
      for await (const { kind } of tasks.events(id, { signal: left.signal })) {
        seen.push(kind);
        setTimeout(() => left.abort(), 20);
      }
      expect(seen).toContain('submitted');
    }
    await expect(tasks.get(id, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
  } finally {
    await at.close();
  }
});

/**
 * A process that works on a data folder until it is killed; started by tests.
 *
 *     node store-child.ts commit <folder> <round>    commits without end, and purges in one lane; prints each task when that has resolved
 *     node store-child.ts hold <folder>              takes the folder, prints `taken`, and waits
 */
import { writeSync } from 'node:fs';
import { createSqliteStore, takeFolder } from '@fermata/engine';
import { birth, callRow, checkpointRow, outboxRow, ref, step } from './store-rows.ts';

const [command = '', folder = '', round = ''] = process.argv.slice(2);
const say = (line: string) => writeSync(1, `${line}\n`);

if (command === 'hold') {
  const owner = takeFolder(folder);
  owner.tell({ url: 'http://127.0.0.1:7777' });
  say('taken');
  setInterval(() => {}, 1000);
} else {
  const store = createSqliteStore({ folder });
  const work = async (lane: number) => {
    for (let i = 0; ; i++) {
      const id = `${round}-${lane}-${i}`;
      const data = new Uint8Array(i % 7 === 0 ? 50_000 : 500).fill(i);
      await store.commit([{ ...birth(id), calls: [callRow(1)], outbox: [outboxRow(id)], checkpoint: { row: checkpointRow('c'), data } }]);
      say(`born ${id} ${data.length} ${i % 256}`);
      await store.commit([step(id, 1, { status: 'succeeded' }, i % 2 ? { dropCheckpoints: ['c'] } : {})]);
      say(`done ${id} ${data.length} ${i % 256}`);
      if (lane > 1) continue;
      await store.purge(ref(id));
      say(`gone ${id} 0 0`);
    }
  };
  await Promise.all([1, 2, 3, 4].map(work));
}

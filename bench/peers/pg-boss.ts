/** pg-boss on the PostgreSQL of this machine, which must take connections on its standard port. */
import { peerModule } from './peer-module.ts';

interface Boss {
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  createQueue(name: string, options: object): Promise<void>;
  send(name: string, data: object): Promise<string | null>;
  work(name: string, options: object, handler: (jobs: { data: { n: number; id: number } }[]) => Promise<void>): Promise<string>;
  on(event: string, listener: (error: unknown) => void): void;
  getDb(): { executeSql(sql: string): Promise<unknown> };
}

export async function openPgBoss() {
  const { PgBoss } = await peerModule<{ PgBoss: new (options: object) => Boss }>('pg-boss');
  const schema = `fermata_bench_${process.pid}`;
  const boss = new PgBoss({ connectionString: process.env.FERMATA_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/test', schema, useListenNotify: true });
  boss.on('error', () => {});
  await boss.start();
  await boss.createQueue('bench', { notify: true });
  const waiting = new Map<number, (result: number) => void>();
  let next = 0;
  const work = async (jobs: { data: { n: number; id: number } }[]) => {
    for (const { data } of jobs) waiting.get(data.id)?.(data.n * 2);
  };
  for (let worker = 0; worker < 4; worker++) await boss.work('bench', { pollingIntervalSeconds: 0.5, batchSize: 25 }, work);
  return {
    run: async (n: number) => {
      const id = next++;
      const result = new Promise<number>((resolve) => waiting.set(id, resolve));
      await boss.send('bench', { n, id });
      return result.finally(() => waiting.delete(id));
    },
    close: async () => {
      await boss.getDb().executeSql(`DROP SCHEMA ${schema} CASCADE`);
      await boss.stop({ graceful: false });
    },
  };
}

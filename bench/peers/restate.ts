/** Restate: its server as a process of its own, with a service of one durable step in this process. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from './bullmq.ts';
import { peerModule } from './peer-module.ts';

interface Context {
  run(name: string, action: () => number): Promise<number>;
}
interface Module {
  service(definition: object): object;
  serve(options: object): Promise<number>;
}

export async function openRestate() {
  const { service, serve } = await peerModule<Module>('@restatedev/restate-sdk');
  const bench = service({ name: 'bench', handlers: { double: async (context: Context, { n }: { n: number }) => context.run('double', () => n * 2) } });
  const port = await serve({ services: [bench], port: await freePort() });
  const folder = mkdtempSync(join(tmpdir(), 'fermata-bench-restate-'));
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
  const file = fileURLToPath(new URL('../node_modules/@restatedev/restate-server-linux-x64/bin/restate-server', import.meta.url));
  const env = {
    ...process.env,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    RESTATE_DISABLE_TELEMETRY: 'true',
  };
  const server = spawn(file, ['--base-dir', folder, '--no-logo'], { env, cwd: folder, stdio: 'ignore' });
  const gone = new Promise<never>((_, reject) => server.once('error', () => reject(new Error('its server does not run here'))));
  await Promise.race([registered(`http://127.0.0.1:${admin}/deployments`, `http://127.0.0.1:${port}`), gone]);
  return {
    run: async (n: number) => {
      const answer = await fetch(`http://127.0.0.1:${ingress}/bench/double`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ n }) });
      return answer.json();
    },
    close: async () => {
      server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function registered(admin: string, uri: string): Promise<void> {
  for (let attempt = 0; attempt < 60; attempt++) {
    const answer = await fetch(admin, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ uri }) }).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(500);
  }
  throw new Error('its server did not take the service');
}

/**
 * The server that the stories start, talk to over HTTP and kill: an engine on a data folder, behind a socket on loopback.
 *
 * It is told what to be by FERMATA_STORY, a {@link ServerSetup} as JSON, and tells its parent the address and an API key. The
 * key is made once per folder and kept beside it, so that it outlives the process as the keys of a real user do.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Commit } from '@fermata/protocol';
import { closeOnSignals, createKeyStore, createServer, createWebhookListeners, SCOPES } from '@fermata/server';
import { FermataError, type OpenEngineOptions, openEngine, type ToolDefinition } from 'fermata';
import { processesUnder } from '../player/processes.ts';

export interface ServerSetup extends Pick<OpenEngineOptions, 'host' | 'threads' | 'maxRunning' | 'maxQueued' | 'keepForTimerMs' | 'checkpointEveryCpuMs'> {
  folder: string;
  /** No task waits for a process to begin. */
  prepared?: boolean;
  /** A module that exports `tools(setup)`, which all tasks may call. */
  toolsFrom?: string;
  /** Read by that module. */
  toolsInput?: unknown;
  webhooks?: { timeoutMs?: number; pollMs?: number };
  /** Kills when the result of so many calls is durable, before anything follows from the last one: itself, or the processes of its machines. */
  killAfterCalls?: { count: number; whom: 'server' | 'machines'; signal: NodeJS.Signals };
}

/** What its parent hears. */
export type ServerTold = { url: string; key: string } | { failed: string } | { asked: string };
/** What its parent may ask for. */
export type ServerAsked = 'fail-next-checkpoint' | 'memory' | 'memory-at-rest';

const setup = JSON.parse(process.env.FERMATA_STORY ?? '{}') as ServerSetup;
const { folder, prepared, toolsFrom, toolsInput, webhooks, killAfterCalls: kill, ...engineOptions } = setup;
const tell = (told: ServerTold) => process.send?.(told);

let settled = 0;
const count = (commits: readonly Commit[]) => {
  const before = settled;
  settled += commits.flatMap(({ entries = [] }) => entries).filter(({ kind }) => kind === 'call_settled').length;
  if (!kill || before >= kill.count || settled < kill.count) return;
  if (kill.whom === 'server') process.kill(process.pid, kill.signal);
  else for (const { pid } of processesUnder(process.pid)) process.kill(pid, kill.signal);
};

process.on('disconnect', () => process.exit());
try {
  const tools: ToolDefinition[] = toolsFrom === undefined ? [] : (await import(toolsFrom)).tools(toolsInput);
  const listeners = createWebhookListeners();
  const opened = await openEngine({ folder, listeners, tools, network: { allowPrivate: true }, ...engineOptions });
  const { engine, store, registry } = opened;
  if (prepared) await opened.prepare();
  const server = createServer({ engine, store, tools: registry, close: opened.close, listeners, webhooks: { pollMs: 50, ...webhooks, network: { allowPrivate: true } } });
  const keyFile = `${folder}.key`;
  if (!existsSync(keyFile)) {
    const { key } = await createKeyStore(store).create({ tenant: 'default', scopes: SCOPES, name: 'the stories' });
    writeFileSync(keyFile, key, { mode: 0o600 });
  }
  let failing = 0;
  const commit = store.commit.bind(store);
  store.commit = async (commits) => {
    if (failing > 0 && commits.some(({ checkpoint }) => checkpoint)) {
      failing--;
      throw new FermataError('checkpoint_failed', 'there is no room for the checkpoint');
    }
    await commit(commits);
    count(commits);
  };
  process.on('message', (asked: ServerAsked) => {
    if (asked === 'fail-next-checkpoint') failing = 1;
    // Several times: what one pass frees, a later one gives back.
    if (asked === 'memory-at-rest') for (let pass = 0; pass < 5; pass++) globalThis.gc?.();
    tell({ asked: asked === 'fail-next-checkpoint' ? 'done' : JSON.stringify(process.memoryUsage()) });
  });
  const url = await server.listen({ port: 0 });
  tell({ url, key: readFileSync(keyFile, 'utf8') });
  await closeOnSignals(server, { drainMs: 10_000 });
  process.exit();
} catch (error) {
  tell({ failed: (error as { code?: string }).code ?? String(error) });
  process.exitCode = 1;
}

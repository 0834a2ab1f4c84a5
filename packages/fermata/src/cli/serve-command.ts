/**
 * `fermata serve`: a server over the data folder, until it is told to end.
 *
 * The first SIGTERM or Ctrl-C takes no new tasks and pauses those that run; the next start goes on with them. A second one ends
 * the process at once, which loses nothing either.
 */
import { resolve } from 'node:path';
import { closeOnSignals } from '@fermata/server';
import { type Command, Option } from 'commander';
import { dataDir } from '../seal-key-file.ts';
import { collect } from './constraint-options.ts';
import { EXIT } from './exit-code.ts';
import { openLocal } from './local-server.ts';
import { configOfEnvironment, faultOfDefault, type ModelCommandOptions, modelsFor } from './models-for.ts';
import { loadServeConfig } from './serve-config.ts';
import { readToolsFile } from './tools-file.ts';
import { parseCount, parseDuration } from './units.ts';

interface ServeOptions extends ModelCommandOptions {
  host: string;
  port: number;
  data?: string;
  tools?: string;
  secret?: string[];
  dev?: boolean;
  machines: 'processes' | 'threads';
  drain: number;
  maxRunning?: number;
  allowPrivateWebhooks?: boolean;
  allowPrivateTools?: boolean;
  allowSourceCommands?: boolean;
  allowAnyHost?: boolean;
  mcpHost?: string[];
  json?: boolean;
}

const PRIVATE = { allowPrivate: true };
/** A source that connects later than this is there then. */
const SOURCES_WAIT_MS = 5_000;

export function addServeCommand(command: Command, done: (exitCode: number) => void): void {
  command
    .option('--host <address>', 'where it listens', '127.0.0.1')
    .option('--port <n>', 'at which port; 0: any that is free', parseCount, 7070)
    .option('--data <folder>', 'data folder (default: FERMATA_DATA_DIR, else that of the user)')
    .option('-t, --tools <file>', 'module whose default export is an array of tools, or { tools, mcp, openapi, policy }, for all tasks')
    .option('-c, --config <file>', 'JSON with models, secrets, policy and network_headers (default: FERMATA_CONFIG)')
    .option('-m, --model <name>', 'for instructions that name none: <provider>/<model>, or scripted:<file> (default: FERMATA_MODEL, else that of the configuration)')
    .option('--secret <name=VARIABLE>', 'a secret for tools of the tenant default, from the environment (repeatable)', collect)
    .option('--dev', 'make a key for this process, and print it; on a loopback address only')
    .addOption(new Option('--machines <where>', 'where programs run: in child processes, or in threads of this one').choices(['processes', 'threads']).default('processes'))
    .option('--max-running <n>', 'tasks that run at the same time (default: 64)', parseCount)
    .addOption(new Option('--drain <duration>', 'how long tasks have to be put down at the end').argParser(parseDuration).default(10_000, '10s'))
    .option('--allow-private-webhooks', 'webhooks may go to private addresses')
    .option('--allow-private-tools', 'http tools, tool sources, and programs with network access, may reach private addresses')
    .option('--allow-source-commands', 'POST /tool_sources may start MCP servers as processes of this machine')
    .option('--allow-any-host', 'tasks may ask for all public hosts (network_access: true)')
    .option('--mcp-host <name>', 'a name, besides those of loopback, by which /mcp is reached through a proxy (repeatable)', collect)
    .option('--json', 'tell the address as one JSON object on stdout')
    .action(async (options: ServeOptions) => done(await serve(options)));
}

async function serve(options: ServeOptions): Promise<number> {
  const { host, port, data = dataDir(), tools: toolsFile, dev = false, machines, drain, maxRunning, json } = options;
  const equipment = await readToolsFile(toolsFile);
  const { policy, networkHeaders, secret } = await loadServeConfig(options.config ?? configOfEnvironment(), options.secret);
  const models = await modelsFor(options, false);
  const file = toolsFile === undefined ? undefined : resolve(toolsFile);
  const local = await openLocal(data, {
    ...equipment,
    ...{ policy: [...equipment.policy, ...policy], networkHeaders, secret },
    models: async () => models,
    ...{ toolsFile, host: machines, sourcesWaitMs: SOURCES_WAIT_MS, allowSourceCommands: options.allowSourceCommands ?? false },
    ...(maxRunning === undefined ? {} : { maxRunning }),
    ...{ trustHosts: false, anyHost: options.allowAnyHost === true },
    ...(options.allowPrivateTools ? { network: PRIVATE } : {}),
    // A task that was started with other tools waits for them.
    goesOn: ({ request }) => (request.metadata?.tools_file ?? file) === file,
    server: {
      development: dev,
      ...(options.mcpHost ? { mcp: { hosts: options.mcpHost } } : {}),
      ...(options.allowPrivateWebhooks ? { webhooks: { network: PRIVATE } } : {}),
      onError: (error, where) => process.stderr.write(`${where}: ${error instanceof Error ? error.message : error}\n`),
    },
  });
  // A tool that goes wrong after its answer must not end the tasks of others.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => process.stderr.write(`${event}, of a tool most likely: ${error instanceof Error ? error.stack : error}\n`));
  }
  try {
    const { server } = local;
    const url = await server.listen({ host, port });
    if (json) process.stdout.write(`${JSON.stringify({ url, data: resolve(data), ...(dev ? { key: server.developmentKey } : {}) })}\n`);
    else {
      process.stderr.write(`listening on ${url}, data in ${resolve(data)}; docs at ${url}/docs\n`);
      process.stderr.write(dev ? `key of this process: ${server.developmentKey}\n` : 'keys are made with: fermata key create\n');
    }
    const noModel = await faultOfDefault(models);
    if (noModel !== undefined) process.stderr.write(`instructions cannot be done: ${noModel}\n`);
    for (const failure of local.failedSources) process.stderr.write(`${failure}; it is tried again\n`);
    // In the background: a task that comes before this is done is only slower.
    let ending = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => (ending = true));
    local.prepare().catch((error: unknown) => ending || process.stderr.write(`machines could not be made in advance: ${error instanceof Error ? error.message : error}\n`));
    const signal = await closeOnSignals(server, { drainMs: drain });
    process.stderr.write(`closed on ${signal}\n`);
    return EXIT.ok;
  } finally {
    await local.close(drain);
  }
}

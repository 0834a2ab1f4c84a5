/**
 * `fermata mcp`: an MCP server on standard input and output, over the data folder or a server.
 *
 * It ends when its client closes standard input, or by a signal. Tasks that run then are put down as `paused`, and the next start on the
 * folder goes on with them; what a kill cuts off goes on from what was durable.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Writable } from 'node:stream';
import { FermataError } from '@fermata/protocol';
import type { Command } from 'commander';
import { type Connection, connect } from './connection.ts';
import { addConnectionOptions, type ConnectionOptions } from './connection-options.ts';
import { EXIT } from './exit-code.ts';
import { refuseOtherTools, rememberTools } from './task-tools.ts';
import { readToolsFile } from './tools-file.ts';

interface McpOptions extends Omit<ConnectionOptions, 'json'> {
  tools?: string;
  approve?: boolean;
  allowAnyHost?: boolean;
}

/** A source that connects later than this is there then. */
const SOURCES_WAIT_MS = 5_000;
/** Clients kill what has not ended some two seconds after its input was closed. */
const DRAIN_MS = 1_500;
/** Bytes of one message. */
const MAX_MESSAGE = 32 * 1024 * 1024;

export function addMcpCommand(mcp: Command, done: (exitCode: number) => void): void {
  addConnectionOptions(mcp, { json: false })
    .option('-t, --tools <file>', 'module whose default export is an array of tools, or { tools, mcp, openapi, policy }, for all tasks')
    .option('--no-approve', 'offer nothing that decides on calls: people do so elsewhere, with fermata task approve')
    .option('--allow-any-host', 'programs may ask for all public hosts (network: ["*"])')
    .action(async (options: McpOptions) => done(await serveMcp(options)));
}

async function serveMcp(options: McpOptions): Promise<number> {
  const { createMcpServer } = await import('@fermata/server/mcp');
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  const wire = keepStdout();
  const ended = endOfInput();
  // A tool that goes wrong after its answer must not end the tasks of others.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) process.on(event, (error: unknown) => tell(`${event}, of a tool most likely`, error));
  const connection = await connected(options);
  try {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
    const server = createMcpServer({
      version,
      caller: () => ({ client: connection.client, may: (scope) => options.approve !== false || scope !== 'approve' }),
      equip: async (task) => {
        if (options.tools === undefined) return task;
        const store = connection.store();
        if (store) await rememberTools(store, task.task_id, options.tools);
        return { ...task, metadata: { ...task.metadata, tools_file: resolve(options.tools) } };
      },
      onError: (error, where) => tell(where, error),
    });
    server.onerror = (error) => tell('mcp', error);
    const closed = new Promise<string>((stop) => {
      server.onclose = () => stop('the connection was closed');
    });
    await server.connect(new StdioServerTransport(process.stdin, wire, { maxBufferSize: MAX_MESSAGE }));
    process.stderr.write(`fermata mcp ${version}, ${connection.folder === undefined ? 'tasks of the server' : `data in ${connection.folder}`}\n`);
    const why = await Promise.race([ended, closed]);
    process.stderr.write(`closing: ${why}\n`);
    await server.close();
    return EXIT.ok;
  } finally {
    await connection.close(DRAIN_MS);
  }
}

async function connected({ tools: file, allowAnyHost = false, url, key, data }: McpOptions): Promise<Connection> {
  const equipment = await readToolsFile(file);
  const tools = file === undefined ? undefined : resolve(file);
  const given = { ...(url === undefined ? {} : { url }), ...(key === undefined ? {} : { key }), ...(data === undefined ? {} : { data }) };
  const connection = await connect(given, {
    ...{ ...equipment, toolsFile: file, sourcesWaitMs: SOURCES_WAIT_MS },
    // The hosts that a program may reach are named by a model.
    ...{ trustHosts: false, anyHost: allowAnyHost },
    goesOn: ({ request }) => (request.metadata?.tools_file ?? tools) === tools,
  });
  try {
    refuseOtherTools(connection, file);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Standard output is the client's: what anybody else writes there goes to standard error. */
function keepStdout(): Writable & NodeJS.WriteStream {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  return new Writable({ write: (chunk, _encoding, done) => void write(chunk, (error) => done(error ?? null)) }) as Writable & NodeJS.WriteStream;
}

/** Resolves with the reason to end; a second signal ends the process at once, which loses nothing either. */
function endOfInput(): Promise<string> {
  return new Promise((stop) => {
    process.stdin.once('end', () => stop('the client has closed its side'));
    process.stdin.once('close', () => stop('the client has closed its side'));
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(signal === 'SIGINT' ? 130 : 143));
        stop(signal);
      });
    }
  });
}

function tell(where: string, error: unknown): void {
  const said = error instanceof FermataError || !(error instanceof Error) ? String(error) : (error.stack ?? error.message);
  process.stderr.write(`${where}: ${said}\n`);
}

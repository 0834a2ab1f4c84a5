/** `fermata tool`: the tools that programs may call. */
import type { CreateToolWire } from '@fermata/protocol/wire';
import type { Command } from 'commander';
import { type Connection, connect } from './connection.ts';
import { addConnectionOptions, type ConnectionOptions } from './connection-options.ts';
import { newTaskId, submit } from './durable-run.ts';
import { EXIT } from './exit-code.ts';
import { followTask } from './follow-task.ts';
import type { LocalOptions } from './local-server.ts';
import { columns, print } from './print.ts';
import { Progress } from './progress.ts';
import { readJson } from './read-input.ts';
import { addTaskOptions, approvalOf, type TaskCommandOptions } from './task-options.ts';
import { refuseOtherTools } from './task-tools.ts';
import { tellTask } from './tell-task.ts';
import { readToolsFile } from './tools-file.ts';
import { withConnection } from './with-connection.ts';

type ToolsOptions = ConnectionOptions & { tools?: string };
type CallOptions = ToolsOptions & TaskCommandOptions & { input?: string };

export function addToolCommand(tool: Command, done: (exitCode: number) => void): void {
  const withTools = (command: Command) =>
    addConnectionOptions(command).option('-t, --tools <file>', 'module whose default export is an array of tools, or { tools, mcp, openapi, policy }');

  withTools(tool.command('list').description('the tools there are')).action(async (options: ToolsOptions) => {
    await using connection = await connectWith(options, { maxRunning: 0 });
    const { items } = await connection.client.tools.list();
    print(options.json, { items }, () =>
      columns(items.map(({ name, kind, requires_approval, description }) => [name, kind, requires_approval ? 'needs approval' : '', description.split('\n')[0] ?? ''])),
    );
    done(EXIT.ok);
  });
  withTools(tool.command('stubs').description('the tools as declarations, for who writes programs').argument('<language>', 'python or typescript')).action(
    async (language: 'python' | 'typescript', options: ToolsOptions) => {
      await using connection = await connectWith(options, { maxRunning: 0 });
      const listed = await connection.client.tools.list({ stubs: language });
      print(options.json, listed, () => listed.stubs ?? '');
      done(EXIT.ok);
    },
  );
  withTools(tool.command('sources').description('MCP servers and OpenAPI documents that tools are from, and how they are')).action(async (options: ToolsOptions) => {
    await using connection = await connectWith(options, { maxRunning: 0, sourcesMustConnect: false });
    const { items } = await connection.client.toolSources.list();
    print(options.json, { items }, () => columns(items.map(({ name, kind, state, tool_count, error }) => [name, kind, state, `${tool_count} tools`, error ?? ''])));
    done(EXIT.ok);
  });
  const call = tool
    .command('call')
    .description('call one tool, as a task of its own')
    .argument('<tool>', 'its name')
    .option('-i, --input <json>', 'its arguments: JSON, or @file with JSON');
  addConnectionOptions(addTaskOptions(call)).action(async (name: string, options: CallOptions) => done(await callTool(name, options)));

  addConnectionOptions(
    tool.command('add').description('register a tool: an HTTP endpoint, a client-side tool, or code').argument('<json>', 'as POST /tools takes it: JSON, or @file'),
  ).action(async (spec: string, options: ConnectionOptions) => {
    const wanted = (await readJson(spec, 'the tool')) as CreateToolWire;
    done(
      await withConnection(options, async ({ tools }) => {
        const made = await tools.add(wanted);
        print(options.json, made, () => `${made.name} added`);
      }),
    );
  });
  addConnectionOptions(tool.command('remove').description('remove a registered tool').argument('<tool>', 'its name')).action(async (name: string, options: ConnectionOptions) =>
    done(
      await withConnection(options, async ({ tools }) => {
        await tools.remove(name);
        print(options.json, { name, removed: true }, () => `${name} removed`);
      }),
    ),
  );
}

async function connectWith({ tools: file, ...options }: ToolsOptions, local: Pick<LocalOptions, 'maxRunning' | 'sourcesMustConnect'> = {}): Promise<Connection> {
  const equipment = await readToolsFile(file);
  const connection = await connect(options, { ...equipment, toolsFile: file, sourcesMustConnect: true, ...local });
  try {
    refuseOtherTools(connection, file);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function callTool(name: string, options: CallOptions): Promise<number> {
  const json = options.json === true;
  const args = options.input === undefined ? {} : ((await readJson(options.input, '--input')) as Record<string, unknown>);
  const progress = new Progress(options.quiet === true || json);
  await using connection = await connectWith(options);
  const { task_id } = await submit(connection, { task_id: newTaskId(), tool_call: { name, arguments: args } }, options.tools);
  const ended = await followTask(connection, task_id, { json, progress, approve: approvalOf(options.approve), pauseAfterMs: options.pauseAfter });
  return tellTask(ended, { json, progress, connection });
}

/** `fermata task`: looks at durable tasks, and changes what is wanted of them. */
import type { TaskQueryWire } from '@fermata/protocol/wire';
import type { Command } from 'commander';
import { addCallCommands } from './call-commands.ts';
import { addConnectionOptions, type ConnectionOptions } from './connection-options.ts';
import { columns, print } from './print.ts';
import { addTaskControlCommands } from './task-control-commands.ts';
import { callLine, eventLine, stateText, taskLine, taskText } from './task-text.ts';
import { parseCount } from './units.ts';
import { withConnection } from './with-connection.ts';

interface ListOptions extends ConnectionOptions {
  status?: string;
  session?: string;
  batch?: string;
  tool?: string;
  limit?: number;
  cursor?: string;
}

const PAGE = 1000;

export function addTaskCommand(task: Command, done: (exitCode: number) => void): void {
  addListCommand(task, done);
  const look = (name: string, description: string) => addConnectionOptions(task.command(name).description(description).argument('<task>', 'id of the task'));
  look('get', 'a task in its present state').action(async (id: string, options: ConnectionOptions) =>
    done(
      await withConnection(options, async ({ tasks }) => {
        const found = await tasks.get(id);
        print(options.json, found, () => taskText(found));
      }),
    ),
  );
  look('logs', 'what a task has printed so far').action(async (id: string, options: ConnectionOptions) =>
    done(
      await withConnection(options, async ({ tasks }) => {
        const log = await tasks.log(id);
        if (!options.json) process.stderr.write(log.stderr);
        print(options.json, log, () => log.stdout);
      }),
    ),
  );
  look('code', 'the program of a task').action(async (id: string, options: ConnectionOptions) =>
    done(
      await withConnection(options, async ({ tasks }) => {
        const code = await tasks.code(id);
        print(options.json, code, () => code.code ?? '');
      }),
    ),
  );
  look('state', 'of a task that is stopped: its stack, local variables, files').action(async (id: string, options: ConnectionOptions) =>
    done(
      await withConnection(options, async ({ tasks }) => {
        const state = await tasks.state(id);
        print(options.json, state, () => stateText(state));
      }),
    ),
  );
  look('calls', 'the tool calls of a task').action(async (id: string, options: ConnectionOptions) =>
    done(
      await withConnection(options, async ({ calls }) => {
        const items = await calls.list(id);
        print(options.json, { items }, () => columns(items.map(callLine)));
      }),
    ),
  );
  look('checkpoints', 'the checkpoints of a task').action(async (id: string, options: ConnectionOptions) =>
    done(
      await withConnection(options, async ({ tasks }) => {
        const page = await tasks.checkpoints(id);
        print(options.json, page, () => columns(page.items.map(({ checkpoint_id, created_at, reason, bytes }) => [checkpoint_id, created_at, reason, `${bytes} B`])));
      }),
    ),
  );
  addRecordCommands(look, done);
  addTaskControlCommands(task, done);
  addCallCommands(task, done);
}

function addListCommand(task: Command, done: (exitCode: number) => void): void {
  addConnectionOptions(task.command('list').description('tasks, newest first'))
    .option('--status <list>', 'only these, separated by commas')
    .option('--session <id>', 'only those of a session')
    .option('--batch <id>', 'only those of a batch')
    .option('--tool <name>', 'only those that have called it')
    .option('--limit <n>', 'at most so many (default: 50)', parseCount)
    .option('--cursor <cursor>', 'from the list before')
    .action(async ({ status, session, batch, tool, limit, cursor, ...options }: ListOptions) =>
      done(
        await withConnection(options, async ({ tasks }) => {
          const query = { status, session_id: session, batch_id: batch, tool, limit, cursor };
          const page = await tasks.list(Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as TaskQueryWire);
          print(options.json, page, () => columns(page.items.map(taskLine)));
          if (page.cursor !== undefined && !options.json) process.stderr.write(`more: --cursor ${page.cursor}\n`);
        }),
      ),
    );
}

/** What was recorded, and what is being recorded. */
function addRecordCommands(look: (name: string, description: string) => Command, done: (exitCode: number) => void): void {
  look('journal', 'the record of a task, with its hashes')
    .option('--after <n>', 'number of the last entry already known', parseCount)
    .action(async (id: string, { after = 0, ...options }: ConnectionOptions & { after?: number }) =>
      done(
        await withConnection(options, async ({ tasks }) => {
          const items: Awaited<ReturnType<typeof tasks.journal>>['items'] = [];
          for (;;) {
            const page = await tasks.journal(id, { after: items.at(-1)?.seq ?? after, limit: PAGE });
            items.push(...page.items);
            if (page.items.length < PAGE) break;
          }
          print(options.json, { items }, () => columns(items.map(({ seq, at, kind, body, hash }) => [String(seq), at, hash.slice(0, 12), kind, body.slice(0, 200)])));
        }),
      ),
    );
  look('events', 'what happens in a task, one line each, as it happens; with --json one object a line')
    .option('--after <n>', 'number of the last event already known', parseCount)
    .option('--no-follow', 'only what is recorded so far')
    .action(async (id: string, { after = 0, follow, ...options }: ConnectionOptions & { after?: number; follow: boolean }) =>
      done(
        await withConnection(options, async ({ tasks }, connection) => {
          const tell = (event: Parameters<typeof eventLine>[0]) => print(options.json, event, () => eventLine(event));
          await tasks.get(id);
          // Where this process has the folder nothing runs that could be followed.
          if (follow && !connection.store()) {
            for await (const event of tasks.events(id, { after })) tell(event);
            return;
          }
          for (let last = after; ; ) {
            const { items } = await tasks.journal(id, { after: last, limit: PAGE });
            for (const { seq, at, kind, body } of items) tell({ seq, at, kind, data: JSON.parse(body) as unknown });
            last = items.at(-1)?.seq ?? last;
            if (items.length < PAGE) break;
          }
        }),
      ),
    );
}

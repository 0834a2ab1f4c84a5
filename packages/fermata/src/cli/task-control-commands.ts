/** `fermata task pause | resume | cancel | checkpoint | fork | verify | delete`. */

import { FermataError } from '@fermata/protocol';
import type { ForkWire, TaskWire } from '@fermata/protocol/wire';
import type { Command } from 'commander';
import { addConnectionOptions, type ConnectionOptions } from './connection-options.ts';
import { EXIT } from './exit-code.ts';
import { print } from './print.ts';
import { readJson } from './read-input.ts';
import { forgetTools } from './task-tools.ts';
import { parseDuration } from './units.ts';
import { withConnection } from './with-connection.ts';

const WAIT_MS = 60_000;

interface ControlOptions extends ConnectionOptions {
  wait?: number;
}

export function addTaskControlCommands(task: Command, done: (exitCode: number) => void): void {
  const about = (name: string, description: string) => addConnectionOptions(task.command(name).description(description).argument('<task>', 'id of the task'));
  for (const [action, description] of [
    ['pause', 'stop a task where it is, and keep it'],
    ['cancel', 'end a task'],
  ] as const) {
    about(action, description)
      .option('--wait <duration>', 'how long to wait until it is so (default: 1m)', parseDuration)
      .action(async (id: string, { wait = WAIT_MS, ...options }: ControlOptions) =>
        done(
          await withConnection(options, async ({ tasks }) => {
            const now = await tasks[action](id, { wait_seconds: wait / 1000 });
            print(options.json, now, () => `${id} ${now.status}`);
            if (now.status !== (action === 'pause' ? 'paused' : 'cancelled')) return EXIT.waiting;
          }),
        ),
      );
  }
  about('resume', 'let a paused task go on; where no server runs it, it runs here as with fermata resume').action(async (id: string, options: ConnectionOptions) => {
    let isHere = false;
    const code = await withConnection(options, async ({ tasks }, connection) => {
      isHere = connection.store() !== undefined;
      if (isHere) return;
      const now = await tasks.resume(id);
      print(options.json, now, () => `${id} ${now.status}`);
    });
    if (!isHere) return done(code);
    const { resumeTask } = await import('./durable-resume.ts');
    done(await resumeTask(id, { ...options, approve: 'ask' }));
  });
  about('checkpoint', 'take a checkpoint now').action(async (id: string, options: ConnectionOptions) =>
    done(
      await withConnection(options, async ({ tasks }) => {
        const taken = await tasks.checkpoint(id);
        print(options.json, taken, () => `${taken.checkpoint_id} ${taken.bytes} B`);
      }),
    ),
  );
  addForkCommand(about('fork', 'a new task that goes on from a checkpoint of this one, or with other answers to its calls'), done);
  about('verify', 'replay an ended task from its journal, and compare').action(async (id: string, options: ConnectionOptions) =>
    done(
      await withConnection(options, async ({ tasks }) => {
        const found = await tasks.verify(id);
        print(options.json, found, () => (found.verified ? `the same, at ${found.checkpoints} checkpoints too` : found.differences.join('\n')));
        return found.verified ? EXIT.ok : EXIT.failed;
      }),
    ),
  );
  about('delete', 'remove all of an ended task but a note that it was there').action(async (id: string, options: ConnectionOptions) =>
    done(
      await withConnection(options, async ({ tasks }, connection) => {
        await tasks.purge(id);
        const store = connection.store();
        if (store) await forgetTools(store, id);
        print(options.json, { task_id: id, deleted: true }, () => `${id} deleted`);
      }),
    ),
  );
}

function addForkCommand(command: Command, done: (exitCode: number) => void): void {
  command
    .option('--checkpoint <id>', 'where it goes on from; default: the newest')
    .option('--answer <call=json>', 'another answer to a call (repeatable)', (value: string, before: string[] = []) => [...before, value])
    .action(async (id: string, { checkpoint, answer = [], ...options }: ConnectionOptions & { checkpoint?: string; answer?: string[] }) => {
      const given: ForkWire = { ...(checkpoint === undefined ? {} : { checkpoint_id: checkpoint }), ...(answer.length === 0 ? {} : { answers: await answersOf(answer) }) };
      done(
        await withConnection(options, async ({ tasks }, connection) => {
          const fork: TaskWire = await tasks.fork(id, given);
          print(options.json, fork, () => fork.task_id);
          if (connection.store() && !options.json) process.stderr.write(`Go on with: fermata resume ${fork.task_id}\n`);
        }),
      );
    });
}

async function answersOf(given: readonly string[]): Promise<NonNullable<ForkWire['answers']>> {
  const answers: NonNullable<ForkWire['answers']> = {};
  for (const text of given) {
    const at = text.indexOf('=');
    if (at <= 0) throw new FermataError('invalid_request', `--answer ${text} is not of the form call=json`);
    answers[text.slice(0, at)] = { output: await readJson(text.slice(at + 1), '--answer') };
  }
  return answers;
}

/** `fermata task approve | reject | answer | retry | approvals`: decisions on calls that wait. */

import type { FermataClient } from '@fermata/client';
import { FermataError } from '@fermata/protocol';
import type { ApproveWire, CallWire } from '@fermata/protocol/wire';
import type { Command } from 'commander';
import { addConnectionOptions, type ConnectionOptions } from './connection-options.ts';
import { brief, columns, print } from './print.ts';
import { readJson } from './read-input.ts';
import { callLine } from './task-text.ts';
import { withConnection } from './with-connection.ts';

interface ApproveOptions extends ConnectionOptions {
  arguments?: string;
  value?: string;
  comment?: string;
}

export function addCallCommands(task: Command, done: (exitCode: number) => void): void {
  const about = (name: string, description: string) =>
    addConnectionOptions(task.command(name).description(description).argument('<task>', 'id of the task').argument('[call]', 'id of the call; default: the only one that waits'));
  const decide = async (id: string, call: string | undefined, options: ConnectionOptions, decision: (calls: FermataClient['calls'], callId: string) => Promise<CallWire>) =>
    done(
      await withConnection(options, async ({ calls }, connection) => {
        const now = await decision(calls, call ?? (await onlyWaiting(calls, id)));
        print(options.json, now, () => columns([callLine(now)]));
        if (connection.store() && !options.json) process.stderr.write(`It is recorded. Go on with: fermata resume ${id}\n`);
      }),
    );

  about('approve', 'approve a call, or confirm a review')
    .option('--arguments <json>', "in the place of the program's")
    .option('--value <json>', 'of a review: what the program goes on with')
    .option('--comment <text>', 'for the record')
    .action(async (id: string, call: string | undefined, { arguments: args, value, comment, ...options }: ApproveOptions) => {
      const decision: ApproveWire = {};
      if (args !== undefined) decision.arguments = (await readJson(args, '--arguments')) as Record<string, unknown>;
      if (value !== undefined) decision.value = await readJson(value, '--value');
      if (comment !== undefined) decision.comment = comment;
      await decide(id, call, options, (calls, callId) => calls.approve(id, callId, decision));
    });
  about('reject', 'reject a call or a review; the program sees an error')
    .option('--reason <text>', 'what the program is told')
    .action((id: string, call: string | undefined, { reason, ...options }: ConnectionOptions & { reason?: string }) =>
      decide(id, call, options, (calls, callId) => calls.reject(id, callId, reason === undefined ? {} : { reason })),
    );
  about('answer', 'the result of a call that somebody else carries out, or whose outcome is unknown')
    .option('--output <json>', 'what it returned')
    .option('--error <message>', 'how it failed')
    .action(async (id: string, call: string | undefined, { output, error, ...options }: ConnectionOptions & { output?: string; error?: string }) => {
      if ((output === undefined) === (error === undefined)) throw new FermataError('invalid_request', 'give one of --output and --error');
      const result = error === undefined ? { output: await readJson(output as string, '--output') } : { error: { message: error } };
      await decide(id, call, options, (calls, callId) => calls.result(id, callId, result));
    });
  about('retry', 'carry out again a call whose outcome is unknown; its effect may happen twice').action((id: string, call: string | undefined, options: ConnectionOptions) =>
    decide(id, call, options, (calls, callId) => calls.retry(id, callId)),
  );
  addConnectionOptions(task.command('approvals').description('calls that wait for a person, over all tasks')).action(async (options: ConnectionOptions) =>
    done(
      await withConnection(options, async ({ calls }) => {
        const page = await calls.approvals({ limit: 200 });
        print(options.json, page, () =>
          columns(page.items.map(({ task_id, call_id, tool, arguments: args, waits_for }) => [task_id, call_id, waits_for ?? '', `${tool}(${brief(args)})`])),
        );
      }),
    ),
  );
}

async function onlyWaiting(calls: FermataClient['calls'], taskId: string): Promise<string> {
  const waiting = (await calls.list(taskId)).filter(({ status }) => status === 'waiting');
  if (waiting.length === 1) return (waiting[0] as CallWire).call_id;
  if (waiting.length === 0) throw new FermataError('invalid_state', `no call of ${taskId} waits for anybody`);
  throw new FermataError('invalid_request', `${waiting.length} calls wait: ${waiting.map(({ call_id, tool }) => `${call_id} (${tool})`).join(', ')}`, { hint: 'Say which one.' });
}

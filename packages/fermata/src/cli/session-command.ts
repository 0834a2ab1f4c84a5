/** `fermata session`: interpreters that tasks share. */
import type { Command } from 'commander';
import { addConnectionOptions, type ConnectionOptions } from './connection-options.ts';
import { columns, print } from './print.ts';
import { withConnection } from './with-connection.ts';

export function addSessionCommand(session: Command, done: (exitCode: number) => void): void {
  addConnectionOptions(session.command('list').description('the sessions there are')).action(async (options: ConnectionOptions) =>
    done(
      await withConnection(options, async ({ sessions }) => {
        const page = await sessions.list({ limit: 200 });
        print(options.json, page, () =>
          columns(page.items.map(({ session_id, language, head, bytes, created_at }) => [session_id, language ?? '', `${head} tasks`, `${bytes} B`, created_at])),
        );
      }),
    ),
  );
  addConnectionOptions(session.command('end').description('end a session, and forget its interpreter').argument('<session>', 'its id')).action(
    async (id: string, options: ConnectionOptions) =>
      done(
        await withConnection(options, async ({ sessions }) => {
          await sessions.end(id);
          print(options.json, { session_id: id, ended: true }, () => `${id} ended`);
        }),
      ),
  );
}

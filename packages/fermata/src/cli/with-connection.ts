/** Commands that look at tasks or change what is wanted of them; they run nothing themselves. */
import { existsSync } from 'node:fs';
import type { FermataClient } from '@fermata/client';
import { FermataError } from '@fermata/protocol';
import { type Connection, connect } from './connection.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { EXIT } from './exit-code.ts';

/** Resolves with the exit code: that of `work`, else 0. A folder that is named must be there. */
export async function withConnection(options: ConnectionOptions, work: (client: FermataClient, connection: Connection) => Promise<number | undefined | void>): Promise<number> {
  if (options.data !== undefined && !existsSync(options.data)) {
    throw new FermataError('invalid_request', `--data ${options.data}: there is no such folder`, { hint: 'fermata run and fermata serve make one.' });
  }
  await using connection = await connect(options, { maxRunning: 0 });
  return (await work(connection.client, connection)) ?? EXIT.ok;
}

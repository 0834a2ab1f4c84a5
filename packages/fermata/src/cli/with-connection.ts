/** Commands that look at tasks or change what is wanted of them; they run nothing themselves. */
import type { FermataClient } from '@fermata/client';
import { type Connection, type ConnectionOptions, connect } from './connection.ts';
import { EXIT } from './exit-code.ts';

/** Resolves with the exit code: that of `work`, else 0. */
export async function withConnection(options: ConnectionOptions, work: (client: FermataClient, connection: Connection) => Promise<number | undefined | void>): Promise<number> {
  await using connection = await connect(options, { maxRunning: 0 });
  return (await work(connection.client, connection)) ?? EXIT.ok;
}

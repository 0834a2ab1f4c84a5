/** `fermata key`: API keys of the data folder. */

import { FermataError } from '@fermata/protocol';
import type { CreateKeyWire, KeyWire } from '@fermata/protocol/wire';
import type { Command } from 'commander';
import { connect } from './connection.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { EXIT } from './exit-code.ts';
import { columns, print } from './print.ts';
import { parseDuration } from './units.ts';

const SCOPES = ['read', 'run', 'approve', 'admin'] as const;
type Options = Pick<ConnectionOptions, 'data' | 'json'>;
interface CreateOptions extends Options {
  tenant?: string;
  scopes?: string;
  name?: string;
  expires?: number;
}

export function addKeyCommand(key: Command, done: (exitCode: number) => void): void {
  const about = (name: string, description: string) =>
    key
      .command(name)
      .description(description)
      .option('--data <folder>', 'data folder (default: FERMATA_DATA_DIR, else that of the user)')
      .option('--json', 'print one JSON object');
  about('create', 'make a key; it is printed here and never again')
    .option('--tenant <name>', 'whose tasks it is for (default: default)')
    .option('--scopes <list>', 'of read, run, approve, admin, separated by commas (default: read,run,approve)')
    .option('--name <text>', 'what it is called in journals')
    .option('--expires <duration>', 'how long it works (default: until it is revoked)', parseDuration)
    .action(async ({ tenant, scopes, name, expires, ...options }: CreateOptions) => {
      const wanted: CreateKeyWire = {
        ...(tenant === undefined ? {} : { tenant }),
        ...(scopes === undefined ? {} : { scopes: scopes.split(',').map(scopeNamed) }),
        ...(name === undefined ? {} : { name }),
        ...(expires === undefined ? {} : { expires_after_seconds: expires / 1000 }),
      };
      await using connection = await local(options);
      const made = await connection.client.keys.create(wanted);
      print(options.json, made, () => made.key);
      done(EXIT.ok);
    });
  about('list', 'the keys there are').action(async (options: Options) => {
    await using connection = await local(options);
    const items = await connection.client.keys.list();
    print(options.json, { items }, () => columns(items.map(keyLine)));
    done(EXIT.ok);
  });
  about('revoke', 'a key works no more from now on')
    .argument('<key id>', 'as `key list` shows it')
    .action(async (id: string, options: Options) => {
      await using connection = await local(options);
      await connection.client.keys.revoke(id);
      print(options.json, { key_id: id, revoked: true }, () => `${id} revoked`);
      done(EXIT.ok);
    });
}

/** Keys belong to who owns the folder: no server on the network makes them. */
function local({ data }: Options) {
  return connect({ ...(data === undefined ? {} : { data }), url: '' }, { maxRunning: 0 });
}

function keyLine({ key_id, tenant, scopes, name, created_at, expires_at }: KeyWire): string[] {
  return [key_id, tenant, scopes.join(','), created_at, expires_at === null ? '' : `until ${expires_at}`, name];
}

function scopeNamed(text: string): (typeof SCOPES)[number] {
  const found = SCOPES.find((scope) => scope === text.trim());
  if (!found) throw new FermataError('invalid_request', `there is no scope ${JSON.stringify(text)}`, { hint: `There are ${SCOPES.join(', ')}.` });
  return found;
}

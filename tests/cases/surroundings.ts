/** What no program may find or reach: planted secrets, and a listener that counts every connection and packet. */

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';

const TRAP_PORT = 47653;
const SECRET_FOLDER = '/var/tmp/casebank-canary';

export interface Surroundings extends AsyncDisposable {
  /** Connections and packets so far. */
  readonly trapped: number;
}

export async function plantSurroundings(): Promise<Surroundings> {
  process.env.CASEBANK_HOST_SECRET = 'canary-env-7f3a';
  mkdirSync(SECRET_FOLDER, { recursive: true });
  writeFileSync(`${SECRET_FOLDER}/secret.txt`, 'canary-file-91bd\n');
  let trapped = 0;
  const tcp = createServer((socket) => {
    trapped++;
    socket.destroy();
  });
  const udp = createSocket('udp4', () => trapped++);
  await once(tcp.listen(TRAP_PORT, '127.0.0.1'), 'listening');
  await once(udp.bind(TRAP_PORT, '127.0.0.1'), 'listening');
  return {
    get trapped() {
      return trapped;
    },
    async [Symbol.asyncDispose]() {
      udp.close();
      tcp.close();
    },
  };
}

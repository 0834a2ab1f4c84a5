/** Run as a child process of a host would be: tries to get at everything around it, and tells what it got. */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';

const attempt = (what) => {
  try {
    return { got: what() };
  } catch (error) {
    return { refused: error.code ?? error.message };
  }
};
const port = Number(readFileSync(new URL('./jail-probe.port', import.meta.url), 'utf8'));
const connection = await new Promise((resolve) => {
  try {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve('connected')).on('error', (error) => resolve(error.code));
  } catch (error) {
    resolve(error.code);
  }
});
process.send({
  passwd: attempt(() => readFileSync('/etc/passwd', 'utf8')),
  environment: attempt(() => readFileSync('/proc/self/environ', 'utf8')),
  processes: attempt(() => readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length),
  write: attempt(() => writeFileSync('/tmp/fermata-probe', 'x')),
  command: attempt(() => spawnSync('/bin/true').status),
  secret: process.env.FERMATA_PROBE_SECRET ?? null,
  connection,
});
process.disconnect();

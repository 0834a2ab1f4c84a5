/** A process that ends in good order: the first SIGTERM or SIGINT closes the server, the second ends the process at once. */
import type { FermataServer } from './server.ts';

/** Resolves when a signal came and the server is closed. */
export function closeOnSignals(server: Pick<FermataServer, 'close'>, { drainMs = 10_000 } = {}): Promise<NodeJS.Signals> {
  return new Promise((resolve, reject) => {
    let seen = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (seen) process.exit(signal === 'SIGINT' ? 130 : 143);
      seen = true;
      server.close({ drainMs }).then(() => {
        for (const name of ['SIGTERM', 'SIGINT'] as const) process.off(name, onSignal);
        resolve(signal);
      }, reject);
    };
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, onSignal);
  });
}

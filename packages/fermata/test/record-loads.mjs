// Preloaded with --import, in a process and in its Workers: writes which files they load, a line each, with the thread.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:')) appendFileSync(process.env.LOADS_FILE, `${isMainThread ? 'main' : 'worker'} ${url}\n`);
    return nextLoad(url, context);
  },
});

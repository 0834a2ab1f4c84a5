/** Runs examples/quickstart.mjs, installing and building first where that is needed. Arguments are passed on. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled, run } from './ensure-installed.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

ensureInstalled();
process.env.PATH = join(root, 'node_modules', '.bin') + delimiter + process.env.PATH;
if (!existsSync(join(root, 'packages/fermata/dist/index.js'))) console.error('Building ...');
run('tsc', ['-b']);
run('node', [join('examples', 'quickstart.mjs'), ...process.argv.slice(2)]);

/** One process, one segment: restores a machine from a file, runs it to a fuel mark, and saves it again or reports its end. */
import { readFileSync, writeFileSync } from 'node:fs';
import { onDeepStack } from './stack.ts';

const task = JSON.parse(readFileSync(0, 'utf8'));
const { snapshot, ...said } = await onDeepStack<{ snapshot?: Uint8Array }>('./segment-thread.ts', task);
if (snapshot) writeFileSync(task.file, snapshot);
process.stdout.write(JSON.stringify(said));

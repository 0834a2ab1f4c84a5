/** One process, one segment: restores a machine from a file, runs it to a fuel mark, and saves it again or reports its end. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { imageOfLanguage, loadImage, Machine } from '@fermata/machine';
import { drive, programOf } from './drive.ts';

const { language, code, progress, stopAt, file } = JSON.parse(readFileSync(0, 'utf8'));
const image = await loadImage(imageOfLanguage[language as 'python']);
const machine = existsSync(file) ? Machine.restore(image, readFileSync(file), { trust: true }) : Machine.fresh(image);
const ending = drive(machine, programOf(language, code), progress, stopAt ?? Number.POSITIVE_INFINITY);
if (!ending) writeFileSync(file, machine.snapshot());
process.stdout.write(JSON.stringify(ending ? { ending } : { progress }));

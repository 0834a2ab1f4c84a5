/**
 * Boots the packed image and writes the base's digest and size into `image.json`. Run by build.sh; running it alone on
 * another machine must not change the file. Needs the built package (`../dist`).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { verifyImage } from '../dist/wasm/image-store.js';

const path = fileURLToPath(new URL('image.json', import.meta.url));
const manifest = JSON.parse(readFileSync(path, 'utf8'));
const { parts } = await verifyImage('cpython');
const base = parts.at(-1);
manifest.base = { sha256: base.sha256, bytes: Number(/\d+/.exec(base.part)[0]) };
writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
console.log(`${base.sha256}  base  ${manifest.base.bytes} bytes`);

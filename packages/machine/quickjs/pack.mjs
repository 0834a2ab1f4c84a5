/**
 * The last step of build.sh: checks that the guest is what the host takes for granted, compresses it into `artifact/`
 * and records digests and sizes in `image.json`, those of the base image included. Needs the built package (`../dist`).
 *
 * Usage: pack.mjs <guest.wasm> <this folder>
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import { verifyImage } from '../dist/wasm/image-store.js';

const [, , guest, here] = process.argv;
const bytes = readFileSync(guest);
check(new WebAssembly.Module(bytes));

const packed = zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 19 } });
writeFileSync(join(here, 'artifact', 'guest.wasm.zst'), packed);
const manifestPath = join(here, 'image.json');
const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'));
manifest.wasm = { file: 'artifact/guest.wasm.zst', sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
save();

const base = (await verifyImage('quickjs')).parts.find(({ part }) => part.startsWith('base'));
manifest.base = { sha256: base.sha256, bytes: Number(/\d+/.exec(base.part)[0]) };
save();
console.log(`guest ${manifest.wasm.sha256}, ${bytes.length} bytes, ${packed.length} compressed\nbase  ${base.sha256}, ${manifest.base.bytes} bytes`);

function save() {
  writeFileSync(manifestPath, `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Nothing may come in or be kept outside of memory that the host does not know of. */
function check(module) {
  const modules = new Set(WebAssembly.Module.imports(module).map((entry) => entry.module));
  const strange = [...modules].filter((name) => name !== 'fermata' && name !== 'wasi_snapshot_preview1');
  if (strange.length > 0) throw new Error(`the guest imports from ${strange}`);
  const has = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  const needed = ['_start', 'memory', '__stack_pointer', 'fermata_status', 'fermata_unwind', 'fermata_layout', 'fermata_locate_stack', 'fermata_locate', 'fermata_inspect'];
  const missing = needed.filter((name) => !has.has(name));
  if (missing.length > 0) throw new Error(`the guest does not export ${missing}`);
}

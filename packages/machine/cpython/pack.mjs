/**
 * The last step of build.sh: compresses what the chroot built into `artifact/` and records digests and sizes in
 * `image.json`. The base's digest is cleared when the guest changed; `image build` of the machine package fills it in.
 *
 * Usage: pack.mjs <folder with guest.wasm and lib.zip> <this folder>
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';

const [, , built, here] = process.argv;
const manifestPath = join(here, 'image.json');
const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'));

function pack(name) {
  const bytes = readFileSync(join(built, name));
  const packed = zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 19 } });
  writeFileSync(join(here, 'artifact', `${name}.zst`), packed);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  console.log(`${sha256}  ${name}  ${bytes.length} bytes, ${packed.length} compressed`);
  return { sha256, bytes: bytes.length };
}

const wasm = pack('guest.wasm');
const library = pack('lib.zip');
const unchanged = wasm.sha256 === manifest.wasm.sha256 && library.sha256 === manifest.files[0].sha256;
manifest.wasm = { file: 'artifact/guest.wasm.zst', ...wasm };
manifest.files = [{ path: '/usr/local/lib/python313.zip', file: 'artifact/lib.zip.zst', sha256: library.sha256 }];
if (!unchanged) manifest.base = { sha256: '0'.repeat(64), bytes: 0 };
writeFileSync(manifestPath, `${JSON.stringify(manifest, null, 2)}\n`);

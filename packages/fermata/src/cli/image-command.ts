/** `fermata image list | verify | build`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { IMAGE_NAMES, type ImageManifest, imageFolder, readManifest, verifyImage } from '@fermata/machine';
import { FermataError, type ImageName } from '@fermata/protocol';
import type { Command } from 'commander';
import { EXIT } from './exit-code.ts';
import { formatBytes } from './units.ts';

export function addImageCommand(image: Command, done: (exitCode: number) => void): void {
  image
    .command('list')
    .description('images, their versions and languages')
    .option('--json', 'as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const manifests = await Promise.all(IMAGE_NAMES.map(readManifest));
      if (json) return print(manifests.map(({ name, version, languages, wasm, base, sources }) => ({ name, version, languages, wasm, base, sources })));
      for (const { name, version, languages, wasm, base } of manifests) {
        process.stdout.write(`${name} ${version}  ${languages.join(', ')}  wasm ${formatBytes(wasm.bytes)}, base ${formatBytes(base.bytes)}  ${wasm.sha256.slice(0, 16)}\n`);
      }
    });
  image
    .command('verify')
    .description('unpack and boot each image anew, and compare every digest with the pinned one')
    .argument('[name]', 'one image; default: all')
    .option('--json', 'as JSON')
    .action(async (name: string | undefined, { json }: { json?: boolean }) => {
      const checks = await Promise.all(named(name).map(verifyImage));
      if (json) print(checks);
      else {
        for (const check of checks) {
          for (const { part, sha256, pinned } of check.parts) {
            process.stdout.write(`${sha256 === pinned ? 'ok  ' : 'BAD '} ${check.name} ${part} ${sha256}${sha256 === pinned ? '' : `, pinned ${pinned}`}\n`);
          }
        }
      }
      done(checks.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed);
    });
  image
    .command('build')
    .description('build an image anew from Debian source packages, in the place of the one that is here, and say whether it is the same (needs Debian and root)')
    .argument('<name>', IMAGE_NAMES.join(' or '))
    .action(async (name: string) => done(await build(named(name)[0] as ImageName)));
}

function named(name: string | undefined): readonly ImageName[] {
  if (name === undefined) return IMAGE_NAMES;
  const found = IMAGE_NAMES.find((candidate) => candidate === name);
  if (!found) throw new FermataError('invalid_request', `there is no image ${name}`, { hint: `There are ${IMAGE_NAMES.join(' and ')}.` });
  return [found];
}

async function build(name: ImageName): Promise<number> {
  const before = digests(await readManifest(name));
  const child = spawn('bash', ['build.sh'], { cwd: imageFolder(name), stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) return EXIT.failed;
  const after = digests(await readManifest(name));
  const changed = Object.keys(after).filter((part) => after[part] !== before[part]);
  process.stdout.write(changed.length === 0 ? `${name} is identical\n` : `${name} is different: ${changed.join(', ')}\n`);
  return changed.length === 0 ? EXIT.ok : EXIT.failed;
}

function digests({ wasm, files, base }: ImageManifest): Record<string, string> {
  return Object.fromEntries([['wasm', wasm.sha256], ...files.map(({ path, sha256 }) => [path, sha256]), ['base', base.sha256]]);
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

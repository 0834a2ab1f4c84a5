/** The command line in a process of its own, with a folder and a key of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ended, type RunOptions, runNode } from './new-process.ts';

const BIN = fileURLToPath(new URL('../bin/fermata.mjs', import.meta.url));

/** A `fermata serve` over the folder. Commands in the folder reach it, and run nothing themselves. */
export interface Served {
  child: ChildProcess;
  url: string;
  key: string;
}

export class Cli {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'fermata-cli-'));
  #served: ChildProcess[] = [];

  /** `fermata ...args`, in the folder. */
  run(args: string[], options: RunOptions = {}): Promise<Ended> {
    return runNode([BIN, ...args], { cwd: this.folder, ...options, env: { FERMATA_DATA_DIR: join(this.folder, 'data'), ...options.env } });
  }
  /** The same with `--json`; returns what it printed. */
  async json(args: string[], options: RunOptions = {}): Promise<Json & { code: number | null }> {
    const { code, stdout, stderr } = await this.run([...args, '--json'], options);
    if (!stdout.trim()) throw new Error(`nothing on stdout; stderr: ${stderr}`);
    return { ...JSON.parse(stdout), code };
  }
  /** Resolves when it says where it listens. It is ended with the folder, if not before. */
  async serve(args: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Served> {
    const child = spawn(process.execPath, [BIN, 'serve', '--port', '0', '--dev', '--json', ...args], {
      cwd: this.folder,
      env: { ...process.env, NO_COLOR: '1', FERMATA_DATA_DIR: join(this.folder, 'data'), ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#served.push(child);
    const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    const { url, key } = JSON.parse(line.toString());
    return { child, url, key };
  }
  /** Writes a file into the folder; returns its name. */
  file(name: string, text: string): string {
    writeFileSync(join(this.folder, name), text);
    return name;
  }
  [Symbol.dispose](): void {
    for (const child of this.#served) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks at JSON as it comes
export type Json = Record<string, any>;

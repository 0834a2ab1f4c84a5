/** What the figures were taken on. */
import { spawnSync } from 'node:child_process';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import type { Surroundings } from './report.ts';
import { rounded } from './statistics.ts';

export function surroundings(): Surroundings {
  const python = spawnSync('python3', ['--version'], { encoding: 'utf8' });
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: rounded(totalmem() / 1024 ** 3),
    os: `${type()} ${process.arch}`,
    kernel: release(),
    node: process.version,
    python: python.status === 0 ? python.stdout.trim() : null,
    pageFaultUs: pageFaultUs(),
  };
}

/** Processor time per page of a new Wasm memory when it is first written to; the least of five tries. */
function pageFaultUs(): number {
  const PAGES = 1024;
  const tries = Array.from({ length: 5 }, () => {
    const bytes = new Uint8Array(new WebAssembly.Memory({ initial: PAGES / 16 }).buffer);
    const before = process.cpuUsage();
    for (let page = 0; page < PAGES; page++) bytes[page * 4096] = 1;
    const { user, system } = process.cpuUsage(before);
    return (user + system) / PAGES;
  });
  return rounded(Math.min(...tries));
}

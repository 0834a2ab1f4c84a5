/** Finds the peers that are installed in bench/node_modules. They are no dependency of anything else, so their types are written here. */
import { readFileSync } from 'node:fs';
import type { PeerReport } from '../report.ts';

const folder = new URL('../', import.meta.url);

export function peerNames(): string[] {
  return Object.keys(readJson<{ optionalDependencies: Record<string, string> }>('package.json')?.optionalDependencies ?? {});
}

/** Every peer, with its version if it is there. */
export function peers(): PeerReport[] {
  return peerNames().map((name) => {
    const version = versionOf(name);
    return { name, version, ...(version === null ? { absent: 'not installed' } : {}) };
  });
}

/** The module of a peer; rejects with the reason if it is not there or does not load. */
export async function peerModule<T>(name: string): Promise<T> {
  if (versionOf(name) === null) throw new Error('not installed');
  return (await import(name)) as T;
}

/** A file of a peer's package. */
export function peerFile(path: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(new URL(`node_modules/${path}`, folder)));
}

function versionOf(name: string): string | null {
  return readJson<{ version: string }>(`node_modules/${name}/package.json`)?.version ?? null;
}

function readJson<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(new URL(path, folder), 'utf8')) as T;
  } catch {
    return undefined;
  }
}

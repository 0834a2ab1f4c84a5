/** Tool sources of a program that has no engine: their tools as values, ready to be given to `createFermata` or `run`. */

import type { AddressGuardOptions } from './net/address-guard.ts';
import { SourceShelf } from './source-shelf.ts';
import { sourceSpecs, type ToolSourcesOptions } from './sources/source-options.ts';
import type { Tool } from './tool.ts';

export interface OpenToolSources extends AsyncDisposable {
  /** Those that the sources have at this moment. */
  readonly tools: Tool[];
  /** Ends the connections, and the processes that were started. */
  close(): Promise<void>;
}

export interface OpenToolSourcesOptions extends ToolSourcesOptions {
  /** Which addresses they may reach besides public ones and those that are named here. */
  network?: AddressGuardOptions;
  /** The value of a secret that a source names. */
  secret?: (name: string) => string | undefined | Promise<string | undefined>;
}

/** Connects to all of them. Throws `source_failed` where one cannot be reached, `invalid_request` where one cannot work. */
export async function openToolSources({ network, secret, ...sources }: OpenToolSourcesOptions): Promise<OpenToolSources> {
  const specs = sourceSpecs(sources);
  const shelf = new SourceShelf({ store: NOTHING_KEPT, network, secret, onChanged: () => {}, now: Date.now });
  await shelf.configure(specs, 2 ** 31 - 1);
  const failed = shelf.all().find(({ state }) => state === 'failed');
  if (failed) {
    await shelf.close();
    throw failed.fault;
  }
  return {
    get tools() {
      return shelf.all().flatMap((source) => source.tools.map(({ tool }) => tool));
    },
    close: () => shelf.close(),
    [Symbol.asyncDispose]: () => shelf.close(),
  };
}

const NOTHING_KEPT = { commit: async () => {}, document: async () => undefined, documents: async () => ({ items: [] }) };

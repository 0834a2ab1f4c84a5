/** A tools file for a program in memory, with its sources connected. */
import { FermataError } from '@fermata/protocol';
import type { Tool } from '@fermata/tools';
import { openToolSources } from '../open-tool-sources.ts';
import { readToolsFile } from './tools-file.ts';

export interface OpenToolsFile extends AsyncDisposable {
  tools: Tool[];
}

/** Throws `invalid_request` where it cannot be used, and `source_failed` where a source of it cannot. */
export async function openToolsFile(file: string | undefined): Promise<OpenToolsFile> {
  const { tools, sources, policy } = await readToolsFile(file);
  if (policy.length > 0) throw new FermataError('invalid_request', `the policy of ${file} holds for tasks that are kept only`, { hint: 'Leave --ephemeral out.' });
  if (Object.keys(sources).length === 0) return { tools, [Symbol.asyncDispose]: async () => {} };
  const opened = await openToolSources(sources);
  return { tools: [...tools, ...opened.tools], [Symbol.asyncDispose]: () => opened.close() };
}

/** The file that `--tools` names: its default export is an array of tools, or `{ tools: [...] }`. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FermataError } from '@fermata/protocol';
import { type Tool, type ToolDefinition, toolsByName } from '../tool.ts';

const KNOWN_KEYS = ['tools'];

export async function loadToolsFile(file: string): Promise<Tool[]> {
  const path = resolve(file);
  let module: { default?: unknown };
  try {
    module = await import(pathToFileURL(path).href);
  } catch (cause) {
    throw new FermataError('invalid_request', `the tools file ${file} cannot be loaded: ${(cause as Error).message}`, { cause });
  }
  const exported = module.default;
  if (exported !== null && typeof exported === 'object' && !Array.isArray(exported)) {
    const unknown = Object.keys(exported).find((key) => !KNOWN_KEYS.includes(key));
    if (unknown) throw new FermataError('invalid_request', `the tools file ${file} exports ${JSON.stringify(unknown)}, which this version does not know`);
  }
  const list = Array.isArray(exported) ? exported : (exported as { tools?: unknown } | undefined)?.tools;
  if (!Array.isArray(list)) throw new FermataError('invalid_request', `the tools file ${file} must export an array of tools, or { tools: [...] }, as its default`);
  return [...toolsByName(list as ToolDefinition[]).values()];
}

/** The file that `--tools` names: its default export is an array of tools, or `{ tools, mcp, openapi, policy }`. */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FermataError, type PolicyRule, parseOptions } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { checkRules, type Tool, type ToolDefinition, toolsByName } from '@fermata/tools';
import type { ToolSourcesOptions } from '@fermata/tools/registry';
import { z } from 'zod';

export interface ToolsFile {
  tools: Tool[];
  /** MCP servers and OpenAPI documents. Files that they name are meant from the folder of the tools file. */
  sources: ToolSourcesOptions;
  policy: PolicyRule[];
}

const record = z.record(z.string(), z.record(z.string(), z.unknown()));
const exportSchema = strictOptions({ tools: z.unknown().optional(), mcp: record.optional(), openapi: record.optional(), policy: z.array(z.unknown()).optional() });
const HINT = 'Write `export default [defineTool({ name, execute }), ...]`, or `export default { tools: [...], mcp: {...}, openapi: {...}, policy: [...] }`.';

/** Throws `invalid_request` with the name of the file, what is wrong with it, and the line where that is known. */
export async function loadToolsFile(file: string): Promise<ToolsFile> {
  const module = await load(file);
  const wrong = (what: string, hint = HINT) => new FermataError('invalid_request', `the tools file ${file} ${what}`, { hint });
  if (!('default' in module)) throw wrong('has no default export');
  const given = Array.isArray(module.default) ? { tools: module.default } : inRecord(module.default, file);
  const list = given?.tools ?? (given && (given.mcp ?? given.openapi ?? given.policy) !== undefined ? [] : undefined);
  if (!given || !Array.isArray(list)) throw wrong('must export an array of tools, or { tools: [...] }, as its default');
  const nameless = list.findIndex((tool) => typeof tool?.name !== 'string');
  if (nameless >= 0) throw wrong(`has no name for tool ${nameless + 1} of its list`);
  const tools = [...byName(list, wrong).values()];
  const idle = tools.find(({ execute }) => !execute);
  if (idle) throw wrong(`has no execute for the tool ${idle.name}`, 'On the command line nobody can answer in the place of a tool; with the library a program can.');
  const policy = (given.policy ?? []) as PolicyRule[];
  const sources = await sourcesIn(given, file);
  try {
    checkRules(policy);
  } catch (error) {
    throw wrong(`is wrong: ${(error as Error).message}`, '');
  }
  return { tools, sources, policy };
}

async function sourcesIn({ mcp, openapi = {} }: Record<string, unknown>, file: string): Promise<ToolSourcesOptions> {
  if (mcp === undefined && Object.keys(openapi as object).length === 0) return {};
  const { sourceSpecs } = await import('@fermata/tools/registry');
  const from = (source: { file?: unknown }) => (typeof source.file === 'string' ? { ...source, file: resolve(dirname(file), source.file) } : source);
  const sources = {
    ...(mcp ? { mcp } : {}),
    openapi: Object.fromEntries(Object.entries(openapi as Record<string, object>).map(([name, source]) => [name, from(source)])),
  } as ToolSourcesOptions;
  sourceSpecs(sources, `the tools file ${file}`);
  return sources;
}

function byName(list: ToolDefinition[], wrong: (what: string, hint?: string) => FermataError): Map<string, Tool> {
  try {
    return toolsByName(list);
  } catch (error) {
    throw error instanceof FermataError ? wrong(`is wrong: ${error.message}`, error.hint ?? '') : error;
  }
}

function inRecord(exported: unknown, file: string): z.output<typeof exportSchema> | undefined {
  if (exported === null || typeof exported !== 'object') return undefined;
  return parseOptions(exportSchema, exported, `the default export of the tools file ${file}`);
}

async function load(file: string): Promise<{ default?: unknown }> {
  const path = resolve(file);
  if (!existsSync(path)) throw new FermataError('invalid_request', `the tools file ${file} is not there`);
  try {
    return await import(pathToFileURL(path).href);
  } catch (cause) {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    const place = placeIn(error.stack ?? '', path) ?? (error instanceof SyntaxError ? syntaxPlace(path) : undefined);
    throw new FermataError('invalid_request', `the tools file ${file} cannot be loaded: ${error.name}: ${error.message}${place ? ` (${place})` : ''}`, { cause });
  }
}

/** The first line of the file that a text about an error names. */
function placeIn(text: string, path: string): string | undefined {
  for (const name of [pathToFileURL(path).href, path]) {
    for (const rest of text.split(`${name}:`).slice(1)) {
      const [, line, column] = /^(\d+)(?::(\d+))?/.exec(rest) ?? [];
      if (line) return `line ${line}${column === undefined ? '' : `, column ${column}`}`;
    }
  }
  return undefined;
}

/** An error of syntax does not say where it is; Node, asked about the file alone, does. */
function syntaxPlace(path: string): string | undefined {
  return placeIn(spawnSync(process.execPath, ['--check', path], { encoding: 'utf8' }).stderr, path);
}

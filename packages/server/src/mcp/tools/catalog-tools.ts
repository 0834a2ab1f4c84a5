/** What programs have at hand: tools, and libraries. */
import { strictOptions } from '@fermata/protocol/schemas';
import { nameSchema } from '@fermata/protocol/wire';
import { pythonStubs, searchTools, typescriptStubs } from '@fermata/tools/stubs';
import { z } from 'zod';
import { mcpTool } from '../mcp-tool.ts';

const MOST_FOUND = 100;
const MOST_DESCRIBED = 50;

const findTools = mcpTool({
  name: 'search_tools',
  title: 'Find tools that programs can call',
  description:
    'Finds the tools that programs of run_code can call, by words in their names and descriptions, the best first; without a query it lists them. describe_tools tells their arguments.',
  scope: 'read',
  readOnly: true,
  idempotent: true,
  input: strictOptions({
    query: z.string().max(1000).default('').describe('Words of what is wanted; told are the tools in which most of them are found'),
    limit: z.int().min(1).max(MOST_FOUND).default(30),
  }),
  output: z.object({
    tools: z.array(z.object({ name: z.string(), description: z.string(), needs_approval: z.boolean() })),
    total: z.number().describe('How many fit'),
  }),
  async perform({ query, limit }, { client }) {
    const { items } = await client.tools.list();
    const byName = new Map(items.map((tool) => [tool.name, tool]));
    const found = query.trim() === '' ? items : searchTools(items, query, items.length).flatMap(({ name }) => byName.get(name) ?? []);
    const tools = found.slice(0, limit).map(({ name, description, requires_approval }) => ({ name, description, needs_approval: requires_approval }));
    const lines = tools.map(({ name, description, needs_approval }) => `${name}${needs_approval ? ' (needs approval)' : ''}: ${description.split('\n')[0]}`);
    if (found.length > limit) lines.push(`and ${found.length - limit} more; search for words`);
    return { value: { tools, total: found.length }, text: lines.join('\n') || 'there is none' };
  },
});

const describeTools = mcpTool({
  name: 'describe_tools',
  title: 'Arguments and results of tools',
  description: 'Tells how tools are called from a program: typed declarations in Python or TypeScript, with the JSON Schema of their arguments.',
  scope: 'read',
  readOnly: true,
  idempotent: true,
  input: strictOptions({
    names: z.array(nameSchema).min(1).max(MOST_DESCRIBED).describe('Full names, as search_tools tells them'),
    language: z.enum(['python', 'typescript']).default('typescript').describe('Of the declarations'),
  }),
  output: z.object({
    declarations: z.string(),
    tools: z.array(z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()), needs_approval: z.boolean() })),
    unknown: z.array(z.string()).describe('Names that are no tools'),
  }),
  async perform({ names, language }, { client }) {
    const { items } = await client.tools.list();
    const found = items.filter(({ name }) => names.includes(name));
    const unknown = names.filter((name) => !found.some((tool) => tool.name === name));
    const declarations = found.length === 0 ? '' : (language === 'python' ? pythonStubs : typescriptStubs)(found);
    const tools = found.map(({ name, description, parameters, requires_approval }) => ({ name, description, parameters, needs_approval: requires_approval }));
    return {
      value: { declarations, tools, unknown },
      text: `${declarations}${unknown.length > 0 ? `\nthere is no tool ${unknown.join(', ')}; search_tools lists them` : ''}`.trim(),
    };
  },
});

const listLibraries = mcpTool({
  name: 'list_libraries',
  title: 'Languages and libraries',
  description: 'Lists the languages in which programs can be written, and the libraries that each can import. Nothing can be installed.',
  scope: 'read',
  readOnly: true,
  idempotent: true,
  input: strictOptions({}),
  output: z.object({ images: z.array(z.object({ name: z.string(), languages: z.array(z.string()), libraries: z.array(z.string()) })) }),
  async perform(_none, { client }) {
    const { items } = await client.images();
    const images = items.map(({ name, languages, libraries }) => ({
      ...{ name, libraries: libraries.map((library) => library.name) },
      languages: languages.map(({ language, version }) => `${language} ${version}`),
    }));
    return { value: { images }, text: images.map(({ languages, libraries }) => `${languages.join(', ')}: ${libraries.join(', ') || 'no libraries'}`).join('\n') };
  },
});

export const catalogTools = [findTools, describeTools, listLibraries];

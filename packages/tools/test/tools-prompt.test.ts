/** What a model is told of few tools and of many, counted in the tokens of a model's own tokenizer. */
import { getEncoding } from 'js-tiktoken';
import { expect, test } from 'vitest';
import { toolsForPrompt } from '../src/stubs/prompt.ts';
import { pythonStubs } from '../src/stubs/python.ts';
import { typescriptStubs } from '../src/stubs/typescript.ts';
import { defineTool } from '../src/tool.ts';
import { searchTools } from '../src/tool-search.ts';

const text = { type: 'string' };
const VERBS = ['create', 'find', 'list', 'update', 'delete', 'export', 'approve', 'archive', 'share', 'merge'];
const THINGS = ['invoice', 'customer', 'order', 'ticket', 'contract', 'product', 'payment', 'report', 'shipment', 'document'];
const SYSTEMS = ['billing', 'crm', 'shop', 'support', 'legal', 'catalog', 'bank', 'analytics', 'logistics', 'files'];
const tools = SYSTEMS.flatMap((system) =>
  THINGS.flatMap((thing) =>
    VERBS.map((verb) =>
      defineTool({
        name: `${system}.${verb}_${thing}`,
        description: `${verb} a ${thing} in ${system}, by its id or by what is known of it`,
        parameters: { type: 'object', properties: { id: text, query: text, limit: { type: 'integer' }, status: { type: 'string', enum: ['open', 'closed'] } }, required: ['id'] },
      }),
    ),
  ),
);
const encoding = getEncoding('o200k_base');
const tokens = (said: string) => encoding.encode(said).length;

test.each(['python', 'javascript'] as const)('of a thousand tools a model is told in at most a twentieth of the tokens of all declarations, a search included: %s', (language) => {
  const told = toolsForPrompt(tools, language, 8000);
  expect(told.complete).toBe(false);
  expect(told.text).toContain('There are 1000 tools');
  for (const system of SYSTEMS) expect(told.text).toContain(`${system} (100)`);
  const found = JSON.stringify(searchTools(tools, 'approve an invoice', 10));
  expect(found).toContain('billing.approve_invoice');
  const one = tools.find(({ name }) => name === 'billing.approve_invoice');
  const described = JSON.stringify({ name: one?.name, description: one?.description, parameters: one?.parameters });
  const all = tokens(language === 'python' ? pythonStubs(tools) : typescriptStubs(tools));
  const ratio = (tokens(told.text) + tokens(found) + tokens(described)) / all;
  expect(ratio).toBeLessThanOrEqual(0.05);
  expect(tokens(told.text) / all).toBeLessThanOrEqual(0.01);
});

test('few tools are declared, all of them, and none of them is lost in a count', () => {
  const few = tools.slice(0, 10);
  expect(toolsForPrompt(few, 'python', 8000)).toEqual({ text: pythonStubs(few), complete: true });
  expect(toolsForPrompt(few, 'javascript', 8000)).toEqual({ text: typescriptStubs(few), complete: true });
  const names = [...Array(60).keys()].map((i) => defineTool({ name: i < 30 ? `group${i}.tool` : `tool_${i}` }));
  const { text: told } = toolsForPrompt(names, 'python', 100);
  const counts = [...told.matchAll(/\((\d+)\)/g)].map(([, count]) => Number(count));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(60);
  expect(told).toContain('without a group (30)');
  expect(told.length).toBeLessThan(2000);
});

/** What a search among tools finds, and in which order. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defineTool } from '../src/tool.ts';
import { findingTools, searchTools } from '../src/tool-search.ts';

const told = (name: string, description = '') => ({ name, description });
const tools = [
  told('crm.create', 'create a customer'),
  told('crm.find', 'find a customer'),
  told('crm.delete', 'delete a customer'),
  told('billing.listOpenInvoices', 'All invoices that are not paid'),
  told('billing.invoice_create', 'Makes an invoice'),
  told('mail.send', 'Sends a message, e.g. an invoice'),
  told('files.copy', 'Copies a file'),
  told('HTTPServer.restart'),
  told('Straßen.zählen', 'Zählt Straßen'),
];
const found = (query: string, limit?: number) => searchTools(tools, query, limit).map(({ name }) => name);

test.each([
  ['customer find', ['crm.find']],
  ['find customer', ['crm.find']],
  ['FIND the Customers, please', ['crm.find']],
  ['invoicing', ['billing.invoice_create', 'billing.listOpenInvoices', 'mail.send']],
  ['creation of invoices', ['billing.invoice_create']],
  ['open invoice', ['billing.listOpenInvoices']],
  ['list invoices', ['billing.listOpenInvoices']],
  ['inv', ['billing.invoice_create', 'billing.listOpenInvoices', 'mail.send']],
  ['I need to send an email message', ['mail.send']],
  ['copying files', ['files.copy']],
  ['http server', ['HTTPServer.restart']],
  ['straße', ['Straßen.zählen']],
  ['server, perhaps', ['HTTPServer.restart']],
  ['nothing like it', []],
  ['', []],
])('%j finds %j', (query, names) => expect(found(query)).toEqual(names));

test('a name counts for more than a description, and a rare word for more than a common one', () => {
  expect(searchTools([told('a', 'pay'), told('pay')], 'pay').map(({ name }) => name)).toEqual(['pay', 'a']);
  const many = [...Array(30).keys()].map((i) => told(`get_${i}`, 'gets something'));
  expect(searchTools([...many, told('x', 'gets a refund')], 'get a refund')[0]?.name).toBe('x');
});

test('what is found does not hang on the order of words or of tools', () => {
  const words = fc.array(fc.constantFrom('invoice', 'customer', 'creates', 'open', 'send', 'file', 'zz', 'the'), { maxLength: 5 });
  fc.assert(
    fc.property(words, fc.shuffledSubarray(tools, { minLength: tools.length }), (query, shuffled) => {
      expect(searchTools(shuffled, [...query].reverse().join(' '))).toEqual(searchTools(tools, query.join(' ')));
    }),
  );
});

test('there is a limit, also for what is asked', () => {
  const many = [...Array(60).keys()].map((i) => told(`tool_${i}`));
  expect(searchTools(many, 'tool')).toHaveLength(20);
  expect(searchTools(many, 'tool', 3)).toHaveLength(3);
  expect(found(`${'zz '.repeat(100_000)}crm`)).toEqual([]);
});

test('search and describe are tools that check what they are asked', async () => {
  const crm = defineTool({ name: 'crm.find', description: 'find a customer', parameters: { type: 'object', properties: { id: { type: 'integer' } } }, result: { type: 'string' } });
  const [search, describe] = findingTools(() => [crm]);
  expect(search?.execute?.({ query: 'customer' } as never, undefined as never)).toEqual([{ name: 'crm.find', description: 'find a customer' }]);
  expect(() => search?.check({ query: 'x', limit: 0 })).toThrow('invalid arguments for search: limit must be >= 1');
  expect(describe?.execute?.({ name: 'crm.find' } as never, undefined as never)).toEqual({
    ...{ name: 'crm.find', description: 'find a customer', parameters: crm.parameters, result: { type: 'string' } },
  });
  expect(() => describe?.execute?.({ name: 'crm.finds' } as never, undefined as never)).toThrow('there is no tool crm.finds; did you mean crm.find?');
});

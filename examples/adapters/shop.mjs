// What the examples of this folder have in common: ten tools of a shop, a task of twelve calls, and a model server that plays
// the model over HTTP, once with the ten tools and once with one code tool in their place.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createScriptedServer } from '@fermata/models/scripted';
import { z } from 'zod';

export const QUESTION = 'Order what is running low for Ann, pay for it and tell her.';
/** Take 32 random bytes, and keep them secret: whoever has them can make states that are believed. */
export const sealKey = { id: 'example', key: new Uint8Array(32).fill(7) };

const STOCK = { tea: 3, rice: 40, milk: 2, salt: 90, oats: 12, figs: 1, corn: 55, eggs: 4 };
const log = process.env.SHOP_LOG ?? join(tmpdir(), `shop-${process.pid}.log`);
const state = `${log}.json`;
const id = z.string().describe('The id of an order');
const product = z.string().describe('The name of a product, as list_products gives it');

/** `changes`: what must happen once. */
export const tools = [
  ['list_products', 'The names of all products of the shop', z.object({}), () => Object.keys(STOCK)],
  [
    'stock',
    'How many of a product there are, and what one of it costs',
    z.object({ product }),
    (args) => ({ product: args.product, left: STOCK[args.product], price: args.product.length }),
  ],
  ['customer', 'A customer by name, with address and limit', z.object({ name: z.string() }), ({ name }) => ({ name, address: `${name.toLowerCase()}@example.com`, limit: 500 })],
  ['pay', 'Pays an amount for a customer. Cannot be undone', z.object({ name: z.string(), amount: z.number() }), changes(({ name, amount }) => `pay ${amount} for ${name}`)],
  ['notify', 'Sends a message to an address', z.object({ address: z.string(), text: z.string() }), changes(({ address }) => `notify ${address}`)],
  ['refund', 'Pays back an order. Cannot be undone', z.object({ id, amount: z.number() }), changes((args) => `refund ${args.id}`)],
  ['invoice', 'The invoice of an order, as text', z.object({ id }), (args) => `invoice of ${args.id}`],
  ['shipping', 'What it costs to ship a weight to an address', z.object({ address: z.string(), grams: z.number() }), ({ grams }) => grams / 100],
  ['supplier', 'Who supplies a product, and in how many days', z.object({ product }), (args) => ({ supplier: `${args.product} works`, days: 3 })],
  ['reviews', 'What customers say of a product', z.object({ product }), () => []],
].map(([name, description, schema, execute]) => ({ name, description, schema, execute }));

function changes(textOf) {
  return async (args) => {
    await appendFile(log, `${textOf(args)}\n`);
    return 'done';
  };
}

const PROGRAM = `
const names = await tools.list_products({});
const [ann, ...stock] = await Promise.all([tools.customer({ name: 'Ann' }), ...names.map((product) => tools.stock({ product }))]);
const low = stock.filter(({ left }) => left < 5);
const amount = low.reduce((sum, { price, left }) => sum + price * (10 - left), 0);
await tools.pay({ name: ann.name, amount });
await tools.notify({ address: ann.address, text: \`Ordered: \${low.map(({ product }) => product).join(', ')}\` });
return { amount, ordered: low.map(({ product }) => product) };`;

const ANSWER = 'I ordered tea, milk, figs and eggs for 113, paid, and told Ann.';
const withTools = (...calls) => ({ when: { functions: ['list_products'] }, reply: { calls: calls.map(([name, args]) => ({ name, arguments: args })) } });

const SCRIPT = [
  withTools(['list_products', {}]),
  withTools(...Object.keys(STOCK).map((name) => ['stock', { product: name }])),
  withTools(['customer', { name: 'Ann' }]),
  withTools(['pay', { name: 'Ann', amount: 113 }]),
  withTools(['notify', { address: 'ann@example.com', text: 'Ordered: tea, milk, figs, eggs' }]),
  { when: { functions: ['list_products'] }, reply: ANSWER },
  { when: { functions: ['code'] }, expect: 'list_products(', reply: { calls: [{ name: 'code', arguments: { language: 'javascript', code: PROGRAM } }] } },
  { when: { functions: ['code'] }, expect: '"ordered":["tea","milk","figs","eggs"]', reply: ANSWER },
];

/**
 * Runs an example. `direct(url)` does the task with ten tools. `ask(url)` does it with one, until the program waits, and returns what
 * is to be kept; `approve(url, kept)` goes on from there, in another process, and returns the answer.
 */
export async function example(file, { direct, ask, approve }) {
  const [step] = process.argv.slice(2);
  const url = process.env.MODEL_URL;
  if (step === 'ask') {
    await writeFile(state, await ask(url));
    return setTimeout(600_000); // until it is killed
  }
  if (step === 'approve') return console.log('answer:', await approve(url, await readFile(state, 'utf8')));

  await using model = await createScriptedServer(SCRIPT);
  await direct(model.url);
  const before = { ...model.billed };
  await rm(log, { force: true });
  const start = (name) => spawn(process.execPath, [fileURLToPath(file), name], { stdio: 'inherit', env: { ...process.env, MODEL_URL: model.url, SHOP_LOG: log } });
  const asking = start('ask');
  while (asking.exitCode === null && !(await readFile(state).catch(() => undefined))?.length) await setTimeout(50);
  asking.kill('SIGKILL');
  console.log('the process is killed; the payment waits in a file, and a new process goes on');
  const [code] = await once(start('approve'), 'exit');
  console.log('what happened:', (await readFile(log, 'utf8')).trim().split('\n').join(', '));
  const { requests, inputTokens, outputTokens } = model.billed;
  console.log(`ten tools: ${before.requests} model calls, ${before.inputTokens} tokens in, ${before.outputTokens} out`);
  console.log(`one code tool: ${requests - before.requests} model calls, ${inputTokens - before.inputTokens} tokens in, ${outputTokens - before.outputTokens} out`);
  await Promise.all([log, state].map((path) => rm(path, { force: true })));
  process.exitCode = code;
}

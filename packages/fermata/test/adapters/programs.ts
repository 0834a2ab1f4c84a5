/** What the adapters' tests have in common: a model that writes the same programs, and the frame of an agent's conversation. */
import { createScriptedServer, type ScriptedStep } from '@fermata/models/scripted';
import { z } from 'zod';

export const SEAL = { id: 'test', key: new Uint8Array(32).fill(5) };

/** What the tools of each framework do. `did` has every effect, in its order. */
export function shop() {
  const did: string[] = [];
  let open = 0;
  const most = { open: 0 };
  return {
    did,
    /** Calls of `price` that were under way at the same time. */
    most,
    price: {
      description: 'The price of a product',
      schema: z.object({ product: z.string() }),
      execute: async ({ product }: { product: string }) => {
        open += 1;
        most.open = Math.max(most.open, open);
        await new Promise((done) => setTimeout(done, 30));
        open -= 1;
        did.push(`price ${product}`);
        if (product === 'gold') throw new RangeError('gold is not sold');
        return { product, price: product.length };
      },
    },
    pay: {
      description: 'Pays an amount',
      schema: z.object({ amount: z.number() }),
      execute: async ({ amount }: { amount: number }) => {
        did.push(`pay ${amount}`);
        return `paid ${amount}`;
      },
    },
  };
}

export const PROGRAMS = {
  javascript: `
const [tea, rice] = await Promise.all(['tea', 'rice'].map((product) => tools.price({ product })));
const first = await tools.price({ product: 'milk' });
let wrong;
try { await tools.price({ product: 'gold' }) } catch (error) { wrong = error.message }
return [tea.price, rice.price, first.price, wrong];`,
  python: `
import asyncio
tea, rice = await asyncio.gather(tools.price(product="tea"), tools.price(product="rice"))
first = await tools.price(product="milk")
wrong = None
try:
    await tools.price(product="gold")
except Exception as error:
    wrong = str(error)
[tea["price"], rice["price"], first["price"], wrong]`,
} as const;
export const RESULT = '[3,4,4,"gold is not sold"]';

/** Pays twice at once, one of them refused, then once more. */
export const PAYING = `
const tea = await tools.price({ product: 'tea' });
const both = await Promise.all([tools.pay({ amount: 20 }), tools.pay({ amount: 30 }).catch((error) => error.message)]);
return [tea.price, ...both, await tools.pay({ amount: 40 })];`;

const code = (language: string, text: string) => ({ calls: [{ name: 'code', arguments: { language, code: text } }] });

/** A model that writes a wrong program, is told what is wrong and where, and writes the right one. */
export const REPAIRS: ScriptedStep[] = [
  {
    expect: { has: ['price(args: { product: string', 'What do they cost?'], functions: ['code'] },
    reply: code('python', 'prices = []\nprices.append(tools.prise(product="tea"))'),
  },
  { expect: ['unknown_tool', "did you mean 'price'", 'line 2'], reply: code('python', 'tea = tools.price(product="tea")\ntea["cost"]') },
  { expect: ['KeyError', 'line 2', 'price({"product":"tea"}): ok'], reply: code('python', 'tools.price(product="tea")["price"]') },
  { expect: '3', reply: 'Tea costs 3.' },
];

/** A model that writes one program, and answers by its result. */
export const PAYS: ScriptedStep[] = [
  { expect: { functions: ['code'] }, reply: code('javascript', PAYING) },
  { expect: ['paid 20', 'rejected', 'paid 40'], reply: 'All is paid.' },
];

export const serve = (steps: ScriptedStep[]) => createScriptedServer(steps);

/** What the scripted model replies in the two protocols to the question of the shops. */
import type { ScriptedStep } from '@fermata/models/scripted';
import { ANSWER, SHOPS, TOOLS } from './shops.ts';

/** As a good model calls tools: all that it can at once, and then each that needs the one before. */
export const TOOL_CALLING: ScriptedStep[] = [
  {
    expect: { functions: TOOLS.map(({ function: { name } }) => name) },
    reply: { calls: ['get_sales', 'get_stock'].flatMap((name) => SHOPS.map((shop) => ({ name, arguments: { shop } }))) },
  },
  { expect: { has: ['"left":2'] }, reply: { calls: [{ name: 'find-supplier', arguments: { product: 'P-104' } }] } },
  { expect: { has: ['Nordlys AS'] }, reply: { calls: [{ name: 'get_price', arguments: { supplier: 'S-7', product: 'P-104', count: 50 } }] } },
  { expect: { has: ['"total":4950'] }, reply: { calls: [{ name: 'create_order', arguments: { supplier: 'S-7', product: 'P-104', count: 50, shop: 'Tromsø' } }] } },
  { expect: { has: ['A-1007'] }, reply: { calls: [{ name: 'send_message', arguments: { shop: 'Tromsø', text: '50 head torches are ordered: A-1007' } }] } },
  { expect: { has: ['sent'] }, reply: ANSWER },
];

const PROGRAM = `const shops = ['Oslo', 'Bergen', 'Tromsø', 'Lillehammer'];
const [sales, stock] = await Promise.all([
  Promise.all(shops.map((shop) => tools.get_sales({ shop }))),
  Promise.all(shops.map((shop) => tools.get_stock({ shop }))),
]);
const scarcest = stock.flatMap(({ shop, products }) => products.map((product) => ({ shop, ...product }))).sort((a, b) => a.left - b.left)[0];
const { product, shop } = scarcest;
const { supplier, name } = await tools.find_supplier({ product });
const { total } = await tools.get_price({ supplier, product, count: 50 });
const { order } = await tools.create_order({ supplier, product, count: 50, shop });
await tools.send_message({ shop, text: \`50 head torches are ordered: \${order}\` });
return { scarcest, supplier: name, total, order, sold: sales.flatMap(({ days }) => days).reduce((sum, { items }) => sum + items, 0) };
`;

/** As a model writes the program that does the same, and tells of its result. */
export const PROGRAM_WRITING: ScriptedStep[] = [
  {
    when: { functions: ['run_program'] },
    expect: { has: ['find_supplier', 'get_sales', 'scarcest of all', 'Be brief'] },
    reply: { text: 'This does it.', program: { language: 'javascript', code: PROGRAM } },
  },
  { expect: { has: ['"order":"A-1007"', '"sold":150'] }, reply: ANSWER },
];

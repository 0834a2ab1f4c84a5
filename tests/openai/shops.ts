/** An app that lets a model call tools, as apps do it with the official client, and the ten tools that it has. */
import type OpenAI from 'openai';

type Tool = OpenAI.ChatCompletionFunctionTool;
type Implementation = (args: Record<string, never>) => unknown;

export const SHOPS = ['Oslo', 'Bergen', 'Tromsø', 'Lillehammer'];
export const QUESTION =
  'Look at the sales and the stock of our shops in Oslo, Bergen, Tromsø and Lillehammer. Order 50 of the product that is scarcest of all from its supplier, tell the manager of that shop, and report.';
export const ANSWER =
  'The scarcest product is the head torch in Tromsø (2 left). I ordered 50 from Nordlys AS for 4950 NOK (order A-1007) and told the manager. Sales of the week: 150 items.';

const text = (description: string) => ({ type: 'string', description });
const tool = (name: string, description: string, properties: Record<string, object>, required = Object.keys(properties)): Tool => ({
  type: 'function',
  function: { name, description, parameters: { type: 'object', properties, required, additionalProperties: false } },
});
const shop = text('City in which the shop is');
const product = text('Product number, for example P-100');

export const TOOLS: Tool[] = [
  tool('get_sales', 'Sales of a shop in the past week: for each day the number of items sold and the turnover in NOK.', { shop }),
  tool('get_stock', 'Stock of a shop: every product with its number, name, shelf and the number of items left.', { shop }),
  tool('find-supplier', 'The supplier of a product, with contact, minimal order and delivery time.', { product }),
  tool('get_price', 'What a supplier asks for a number of items of a product, in NOK without tax.', {
    supplier: text('Id of the supplier'),
    product,
    count: { type: 'integer', minimum: 1 },
  }),
  tool('create_order', 'Orders items of a product from a supplier. The order is binding.', {
    supplier: text('Id of the supplier'),
    product,
    count: { type: 'integer', minimum: 1 },
    shop,
  }),
  tool('send_message', 'Sends a message to the manager of a shop.', { shop, text: text('What the message says') }),
  tool('get_weather', 'The weather forecast of a city for up to ten days.', { city: text('Name of the city'), days: { type: 'integer', minimum: 1, maximum: 10 } }, ['city']),
  tool('search_documents', 'Searches the handbook and all notes of the company; gives the five passages that fit best.', { query: text('Words to look for') }),
  tool('convert_currency', 'Converts an amount by the rate of today.', { amount: { type: 'number' }, from: text('ISO code, as NOK'), to: text('ISO code, as EUR') }),
  tool(
    'create_event',
    'Puts an event into the calendar of a shop.',
    { shop, title: text('What it is'), starts_at: { type: 'string', format: 'date-time' }, minutes: { type: 'integer' } },
    ['shop', 'title', 'starts_at'],
  ),
];

const NAMES = ['tent', 'sleeping bag', 'stove', 'rope', 'head torch', 'compass', 'thermos', 'rucksack'];

/** What the tools do; `done` says what they were called for. */
export function implementations(done: string[] = []): Record<string, Implementation> {
  const noted =
    (name: string, act: (args: Record<string, string & number>) => unknown): Implementation =>
    (args) => {
      done.push(`${name}(${JSON.stringify(args)})`);
      return act(args);
    };
  const at = (name: string | undefined) => SHOPS.indexOf(name ?? '');
  return {
    get_sales: noted('get_sales', ({ shop: of }) => ({
      shop: of,
      days: [1, 2, 3, 4, 5, 6, 7].map((day) => ({ date: `2026-03-0${day}`, items: at(of) + (day % 5) + 2, turnover: 990 * (day + at(of)) })),
    })),
    get_stock: noted('get_stock', ({ shop: of }) => ({
      shop: of,
      products: NAMES.map((name, i) => ({ product: `P-${100 + i}`, name, shelf: `${'ABCD'[i % 4]}${i}`, left: of === 'Tromsø' && i === 4 ? 2 : 10 + i + at(of) })),
    })),
    'find-supplier': noted('find-supplier', ({ product: of }) => ({
      supplier: 'S-7',
      name: 'Nordlys AS',
      contact: 'ordre@nordlys.example',
      product: of,
      minimum: 10,
      delivery_days: 4,
    })),
    get_price: noted('get_price', ({ count }) => ({ total: 99 * (count ?? 0), currency: 'NOK' })),
    create_order: noted('create_order', () => ({ order: 'A-1007', state: 'confirmed' })),
    send_message: noted('send_message', () => 'sent'),
  };
}

/** The usual loop: the model is asked, its calls are carried out, and so on until it answers in words. */
export async function answerWithTools(client: OpenAI, model: string, implemented: Record<string, Implementation>, question = QUESTION): Promise<string | null> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You help a company that sells outdoor equipment. Be brief.' },
    { role: 'user', content: question },
  ];
  while (true) {
    const completion = await client.chat.completions.create({ model, messages, tools: TOOLS });
    const message = completion.choices[0]?.message;
    if (!message) throw new Error('there is no answer');
    messages.push(message);
    if (!message.tool_calls?.length) return message.content;
    for (const call of message.tool_calls) {
      if (call.type !== 'function') throw new Error(call.type);
      const result = await implemented[call.function.name]?.(JSON.parse(call.function.arguments));
      messages.push({ role: 'tool', tool_call_id: call.id, content: typeof result === 'string' ? result : JSON.stringify(result) });
    }
  }
}

/** What a program that embeds Fermata may write: `published-types.test.ts` compiles it as a project of its own would. */
import { createFermata, defineTool, type SealKey, type Step, type TaskResult, ToolError } from 'fermata';
import { z } from 'zod';

/** Fails to compile unless both types are the same. */
function same<A, B>(..._proof: (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? [] : ['not the same']): void {}

const place = defineTool({
  name: 'place',
  parameters: {
    type: 'object',
    properties: {
      names: { type: 'array', items: { type: 'string' } },
      unit: { enum: ['m', 'km'] },
      note: { type: ['string', 'null'] },
      at: { type: 'object', properties: { x: { type: 'integer' }, ok: { type: 'boolean' } }, required: ['x'] },
    },
    required: ['names', 'at'],
  },
  execute: (args) => {
    same<typeof args.names, string[]>();
    same<typeof args.at, { x: number; ok?: boolean }>();
    same<typeof args.unit, 'm' | 'km' | undefined>();
    same<typeof args.note, string | null | undefined>();
    // @ts-expect-error the schema has no such argument
    args.nams;
    return args.names.length;
  },
});
const byZod = defineTool({ name: 'zod', parameters: z.object({ a: z.string().default('x') }), execute: ({ a }, { signal }) => [a.length, signal.aborted] });
const schema: Record<string, unknown> = { type: 'object' };
const unknownSchema = defineTool({ name: 'any', parameters: schema, execute: ({ whatever }) => String(whatever) });

const sealKey: SealKey = { id: 'one', key: new Uint8Array(32) };
await using fermata = createFermata({
  tools: [place, byZod, unknownSchema, { name: 'pay', requiresApproval: true, execute: ({ amount }) => `paid ${amount}` }, { name: 'ask' }],
  sealKey: async () => sealKey,
});

const result: TaskResult = await fermata.run({ language: 'python', code: '1' });
console.log(result.status, result.output, result.error?.code);
if (result.status === 'failed') console.log(result.error.code, result.error.line ?? 0);
else if (result.status === 'succeeded') console.log(result.output, result.files[0]?.data.length);
// @ts-expect-error only what has failed has an error
if (result.status !== 'failed') console.log(result.error.code);

const task = await fermata.start({ language: 'javascript', code: '1', onEvent: (event) => event.type === 'output' && console.log(event.text) });
let step: Step = await task.next();
while (step.kind === 'calls') {
  for (const { id, args } of step.calls) task.answer(id, args);
  step = await task.next();
}
if (step.kind === 'ended' && step.result.status === 'failed') throw new ToolError(step.result.error.message, { data: { line: step.result.error.line } });
// @ts-expect-error an ended task does not wait
if (step.kind === 'ended') console.log(step.result.status === 'waiting');

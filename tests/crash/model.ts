/** The model of the crash suite: it replies by heart, and bills each key once; what it has billed is one line of a file, which only ever grows. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Model } from '@fermata/protocol';

const block = (code: string) => `\`\`\`javascript\n${code}\n\`\`\``;
const REPLIES = [
  block('return 1 +'),
  block("return await tools.agian({ key: 'a', ms: 1 })"),
  block("const done = await tools.again({ key: 'a', ms: 1 });\nreturn done.no.thing"),
  block("return await tools.again({ key: 'a', ms: 1 })"),
  'It is done.',
];

export const billedFile = (folder: string) => join(dirname(folder), 'billed');

/** Keys of the replies that were paid for, in their order. */
export function billed(folder: string): string[] {
  const file = billedFile(folder);
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

export function byHeart(folder: string): Model {
  return {
    name: 'test/by-heart',
    generate: async (_request, { idempotencyKey }) => {
      const keys = billed(folder);
      const known = keys.indexOf(idempotencyKey);
      if (known < 0) appendFileSync(billedFile(folder), `${idempotencyKey}\n`);
      const text = REPLIES[known < 0 ? keys.length : known] ?? 'nothing is left to say';
      return { text, calls: [], finish: 'stop', model: 'by-heart', usage: { inputTokens: 10, outputTokens: 1 } };
    },
  };
}

/** Functions that a request offers to the model, in place of a reply in text. */
import type { ModelFunction } from '@fermata/protocol';
import { MOST_RESULT_CHARS } from './answer-prompt.ts';
import type { AuthorFacts } from './author-facts.ts';
import { MOST_READ_CHARS } from './look-up.ts';
import { areDeclared } from './tools-text.ts';

const RUN_PROGRAM: ModelFunction = {
  name: 'run_program',
  description: 'Runs one whole program. Its result comes back to you.',
  parameters: {
    type: 'object',
    properties: { language: { type: 'string', enum: ['python', 'javascript', 'typescript'] }, code: { type: 'string', description: 'The whole program' } },
    required: ['language', 'code'],
    additionalProperties: false,
  },
};
const SEARCH_TOOLS: ModelFunction = {
  name: 'search_tools',
  description: 'Finds tools that the program can call, and shows their declarations.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string', description: 'Words of the name or the description' } },
    required: ['query'],
    additionalProperties: false,
  },
};
const READ_RESULT: ModelFunction = {
  name: 'read_result',
  description: `Shows more of a result that was cut: up to ${MOST_READ_CHARS} characters of its JSON.`,
  parameters: {
    type: 'object',
    properties: {
      from: { type: 'integer', minimum: 0, description: 'The first character, from 0' },
      length: { type: 'integer', minimum: 1, maximum: MOST_READ_CHARS },
    },
    required: ['from', 'length'],
    additionalProperties: false,
  },
};

/** For a request of a program. `mayLook`: the model may look something up once more. */
export function writingFunctions({ tools, language }: Pick<AuthorFacts, 'tools' | 'language'>, mayLook: boolean): ModelFunction[] {
  return [RUN_PROGRAM, ...(mayLook && !areDeclared(tools, language) ? [SEARCH_TOOLS] : [])];
}

/** For a request of the answer. `result`: its JSON. */
export function answeringFunctions(result: string, mayLook: boolean): ModelFunction[] {
  return mayLook && result.length > MOST_RESULT_CHARS ? [READ_RESULT] : [];
}

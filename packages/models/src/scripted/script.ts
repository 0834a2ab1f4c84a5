/**
 * What a scripted model does: a list of steps, in a module or a JSON file. Each says what must have reached the model, and what it
 * replies or how it fails. A step serves one request, in the order of the list; `when` leaves it to the requests that it fits.
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FermataError, parseOptions } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { z } from 'zod';
import type { Asked } from './protocol.ts';

/** A text that must occur, or a pattern; in JSON a pattern is `{ "pattern": "...", "flags": "i" }`. */
export type Match = string | RegExp | { pattern: string; flags?: string };

/** About the messages and functions of a request as one text, and about its headers. */
export interface Expectation {
  has?: Match[];
  lacks?: Match[];
  /** Names of functions that the request must offer. */
  functions?: string[];
  headers?: Record<string, Match>;
}

export interface ScriptedCall {
  name: string;
  arguments: unknown;
  /** Default: one of the server's own. */
  id?: string;
}

export interface ScriptedReply {
  text?: string;
  /** Goes after the text, as a fenced block. In JSON the code may be a list of lines. */
  program?: { language: string; code: string | string[] };
  calls?: ScriptedCall[];
  finish?: 'stop' | 'length' | 'filter';
  /** Default: what four characters a token come to. */
  usage?: { inputTokens: number; outputTokens: number };
}

export type ScriptedFault =
  /** An error in the provider's form, with headers such as `retry-after`. */
  | { status: number; message?: string; headers?: Record<string, string> }
  /**
   * This share of the reply is sent (0 to 1), then the connection breaks, or with `clean` ends as if all was well. With `recorded`
   * the provider has the reply, and gives it in full to who asks with the same key.
   */
  | { cut: number; clean?: boolean; recorded?: boolean }
  /** What is no JSON, where JSON belongs. */
  | { garbage: true }
  /** A good status, and nothing after it. */
  | { empty: true }
  /** Nothing at all comes, until whoever asked has gone. */
  | { hang: true };

export interface ScriptedStep {
  /** Only requests that fit take it; without it any does. */
  when?: Match | Match[] | Expectation;
  /** How many requests take it. Default: 1. */
  times?: number | 'any';
  /** What is not met is answered with an error, and kept. */
  expect?: Match | Match[] | Expectation;
  reply?: string | ScriptedReply | ((asked: Asked) => string | ScriptedReply);
  fault?: ScriptedFault;
  /** Before the reply begins. */
  delayMs?: number;
  /** Between the pieces of a streamed reply. */
  pieceDelayMs?: number;
}

export interface Script {
  steps: ScriptedStep[];
  /** What `GET /v1/models` lists; a request may name any. Default: `scripted`. */
  models?: string[];
}

const match = z.union([z.string().min(1), z.instanceof(RegExp), strictOptions({ pattern: z.string().min(1), flags: z.string().optional() })], 'a text or a pattern is wanted');
const expectation = strictOptions({
  has: z.array(match).optional(),
  lacks: z.array(match).optional(),
  functions: z.array(z.string()).optional(),
  headers: z.record(z.string(), match).optional(),
});
const expectations = z.union([match, z.array(match), expectation], 'a text, a pattern, a list of them, or { has, lacks, functions, headers } is wanted');
const tokens = z.int().min(0);
const reply = strictOptions({
  text: z.string().optional(),
  program: strictOptions({ language: z.string().min(1), code: z.union([z.string(), z.array(z.string())]) }).optional(),
  calls: z.array(strictOptions({ name: z.string().min(1), arguments: z.unknown(), id: z.string().optional() })).optional(),
  finish: z.enum(['stop', 'length', 'filter']).optional(),
  usage: strictOptions({ inputTokens: tokens, outputTokens: tokens }).optional(),
});
const yes = z.literal(true);
const fault = z.union(
  [
    strictOptions({ status: z.int().min(400).max(599), message: z.string().optional(), headers: z.record(z.string(), z.string()).optional() }),
    strictOptions({ cut: z.number().min(0).max(1), clean: z.boolean().optional(), recorded: z.boolean().optional() }),
    strictOptions({ garbage: yes }),
    strictOptions({ empty: yes }),
    strictOptions({ hang: yes }),
  ],
  'one of { status }, { cut }, { garbage: true }, { empty: true }, { hang: true } is wanted',
);
const step = strictOptions({
  when: expectations.optional(),
  times: z.union([z.int().min(1), z.literal('any')]).optional(),
  expect: expectations.optional(),
  reply: z
    .union([z.string(), reply, z.custom<(asked: Asked) => string | ScriptedReply>((value) => typeof value === 'function')], 'a text or { text, program, calls } is wanted')
    .optional(),
  fault: fault.optional(),
  delayMs: z.number().min(0).optional(),
  pieceDelayMs: z.number().min(0).optional(),
})
  .refine(({ reply, fault }) => reply !== undefined || fault !== undefined, 'give it a reply or a fault')
  .refine(({ reply, fault }) => fault === undefined || (reply !== undefined) === 'cut' in fault, 'a fault has a reply if, and only if, that is what is cut');
const scriptSchema = strictOptions({ steps: z.array(step).min(1), models: z.array(z.string().min(1)).min(1).optional() });

/** Throws `invalid_request` with the place of what is wrong. `at`: what the script is called. */
export function checkScript(given: unknown, at = 'the script'): Script {
  return parseOptions(scriptSchema, Array.isArray(given) ? { steps: given } : given, at) as Script;
}

/** A JSON file, or a module whose default export is the script or its steps. */
export async function loadScript(file: string): Promise<Script> {
  const at = `the script ${file}`;
  const path = resolve(file);
  try {
    const given: unknown = /\.json$/.test(path) ? JSON.parse(await readFile(path, 'utf8')) : (await import(pathToFileURL(path).href)).default;
    return checkScript(given, at);
  } catch (cause) {
    if (cause instanceof FermataError) throw cause;
    const hint = 'It is a JSON file, or a module whose default export is a list of steps; see docs/models.md.';
    throw new FermataError('invalid_request', `${at} cannot be loaded: ${(cause as Error).message}`, { hint, cause });
  }
}

/** What a task may be asked for by: callers of an engine are programs, and what they mistype must not pass in silence. */
import { FermataError, parseOptions, type TaskRef, type TaskRequest } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { z } from 'zod';

const text = z.string();
const record = z.custom<Record<string, unknown>>((value) => value !== null && typeof value === 'object' && !Array.isArray(value), 'an object is wanted');
const count = z.int().min(0);
const list = z.custom<readonly unknown[]>(Array.isArray, 'a list is wanted');

const requestSchema = strictOptions({
  language: z.enum(['python', 'javascript', 'typescript']).optional(),
  code: text.optional(),
  instruction: text.optional(),
  messages: z.array(strictOptions({ role: z.enum(['system', 'user', 'assistant']), content: text })).optional(),
  model: strictOptions({ name: text.optional(), maxRepairs: count.optional(), maxTokens: count.optional(), approvePlan: z.boolean().optional() }).optional(),
  toolCall: record.optional(),
  input: z.unknown().optional(),
  stdin: z.unknown().optional(),
  fileName: text.optional(),
  files: list.optional(),
  tools: z.array(text).optional(),
  allowedLibraries: z.array(text).optional(),
  requiredLibraries: z.array(text).optional(),
  blockedCommands: z.array(text).optional(),
  strict: z.boolean().optional(),
  network: record.optional(),
  limits: record.optional(),
  policy: list.optional(),
  retry: record.optional(),
  priority: z.number().optional(),
  sessionId: text.optional(),
  sharedInterpreter: z.boolean().optional(),
  batchId: text.optional(),
  metadata: record.optional(),
  callbackUrl: text.optional(),
  forkOf: record.optional(),
} satisfies Record<keyof TaskRequest, z.ZodType>);

/** Throws `invalid_request`. What an attempt to read it finds later (limits, rules, hosts) is checked there. */
export function checkRequest(request: TaskRequest): void {
  parseOptions(requestSchema, request, 'request');
  const { code, instruction, messages, language, model, sharedInterpreter } = request;
  const ways = Object.entries({ code, instruction, messages }).filter(([, way]) => way !== undefined);
  if (ways.length !== 1) throw invalid(`request: give exactly one of code, instruction and messages${ways.length > 0 ? `, not ${ways.map(([name]) => name).join(' and ')}` : ''}`);
  if (code !== undefined && language === undefined) throw invalid('request.language: code needs one');
  if (code !== undefined && model !== undefined) throw invalid('request.model: goes with an instruction');
  if (messages?.at(-1)?.role === 'assistant' || messages?.length === 0) throw invalid('request.messages: the last message is to be answered, so it is not of the assistant');
  if (sharedInterpreter && language === undefined) throw invalid('request.sharedInterpreter: needs a language, which is that of the interpreter');
  for (const name of ['input', 'stdin'] as const) {
    if (isJson(request[name])) continue;
    throw new FermataError('invalid_request', `request.${name} is not in its wire form, which is JSON`, { hint: 'Give it as toWire(value).' });
  }
}

const invalid = (message: string) => new FermataError('invalid_request', message);

function isJson(value: unknown): boolean {
  if (value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  return typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value)) && Object.values(value).every(isJson);
}

/** Throws `invalid_request` for what names no task. */
export function checkRef(ref: TaskRef): void {
  if (typeof ref?.tenant !== 'string' || typeof ref.taskId !== 'string') {
    throw new FermataError('invalid_request', 'a task is named by its tenant and its id: { tenant, taskId }');
  }
}

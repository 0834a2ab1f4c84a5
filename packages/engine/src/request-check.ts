/** What a task may be asked for by: callers of an engine are programs, and what they mistype must not pass in silence. */
import { FermataError, parseOptions, type TaskRef, type TaskRequest } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { z } from 'zod';

const text = z.string();
const record = z.custom<Record<string, unknown>>((value) => value !== null && typeof value === 'object' && !Array.isArray(value), 'an object is wanted');
const list = z.custom<readonly unknown[]>(Array.isArray, 'a list is wanted');

const requestSchema = strictOptions({
  language: z.enum(['python', 'javascript', 'typescript']),
  code: text,
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
  for (const name of ['input', 'stdin'] as const) {
    if (isJson(request[name])) continue;
    throw new FermataError('invalid_request', `request.${name} is not in its wire form, which is JSON`, { hint: 'Give it as toWire(value).' });
  }
}

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

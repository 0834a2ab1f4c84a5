/** The messages between guest and host (`abi/README.md`). What a guest says is not trusted: it is checked here. */
import type { GuestError, Input, Note, StackFrame, Value, ValueRecord } from '@fermata/protocol';
import { z } from 'zod';

const text = z.string();
const guestErrorSchema = z.object({
  name: text,
  message: text,
  traceback: text,
  line: z.number().int().nullable(),
  column: z.number().int().nullable(),
  kind: z.enum(['syntax_error', 'tool_error', 'unknown_tool', 'library_not_allowed']).optional(),
});
const value = z.custom<Value>(() => true).optional();

/** The last moment that a date can name; a program may well sleep for ever. */
const LAST_MS = 8.64e15;
const due = z
  .custom<number>((at) => typeof at === 'number' && !Number.isNaN(at))
  .transform((at) => Math.max(-LAST_MS, Math.min(at, LAST_MS)))
  .nullable();

const saidSchema = z.discriminatedUnion('say', [
  z.object({ say: z.literal('ready') }),
  z.object({ say: z.literal('wait'), due }),
  z.object({ say: z.literal('done'), value }),
  z.object({ say: z.literal('failed'), error: guestErrorSchema }),
]);
const callSchema = z.object({ id: z.number().int(), name: text, args: z.custom<ValueRecord>(isRecord) });
const stackSchema = z.object({
  stack: z.array(z.object({ file: text, line: z.number().int().nullable(), function: text, locals: z.record(text, text) })),
});
const noteSchema = z.discriminatedUnion('note', [
  z.object({ note: z.literal('step'), name: text }),
  z.object({ note: z.literal('step_result'), name: text, value }),
  z.object({ note: z.literal('progress'), value: z.number() }),
  z.object({ note: z.literal('checkpoint') }),
  z.object({ note: z.literal('finding'), message: text, line: z.number().int().nullable() }),
]);

export type Said = { say: 'ready' } | { say: 'wait'; due: number | null } | { say: 'done'; value: Value } | { say: 'failed'; error: GuestError };

/** A guest keeps to the form of its messages; one that does not is the program's own, and ends it. */
export class RefusedMessage extends Error {
  asGuestError(): GuestError {
    return { name: 'SystemError', message: `the program sent a message of its own to the host: ${this.message}`, traceback: '', line: null, column: null };
  }
}

/** These throw {@link RefusedMessage}. */
export function readSaid(message: Value): Said {
  return inForm(saidSchema, message) as Said;
}
export function readCall(message: Value) {
  return inForm(callSchema, message);
}
export function readStack(message: Value): StackFrame[] {
  return inForm(stackSchema, message).stack;
}
export function readNote(message: Value): Note {
  return inForm(noteSchema, message) as Note;
}

function inForm<T>(schema: z.ZodType<T>, message: Value): T {
  const { data, error } = schema.safeParse(message);
  const issue = error?.issues[0];
  if (issue) throw new RefusedMessage(`${issue.path.join('.') || 'it'}: ${issue.message}`);
  return data as T;
}

const FILE_NAMES = { python: 'main.py', javascript: 'main.js', typescript: 'main.ts' } as const;

export function reply(input: Exclude<Input, { kind: 'go' }>): Value {
  if (input.kind === 'timer') return { do: 'timer' };
  if (input.kind === 'answer') {
    const { result } = input;
    if ('ok' in result) return { do: 'answer', id: input.callId, ok: result.ok };
    return { do: 'answer', id: input.callId, error: { name: result.error.name, message: result.error.message, data: result.error.data } };
  }
  const { program } = input;
  return {
    do: 'start',
    code: program.code,
    file: (program.language === 'python' ? program.file : undefined) ?? FILE_NAMES[program.language],
    language: program.language,
    input: program.input,
    seed: input.seed,
    tools: (program.tools ?? []).map(({ name, parameters }) => ({ name, parameters })),
    allowed: program.allowedLibraries ?? null,
    shared: program.shared ?? false,
  };
}

function isRecord(candidate: unknown): boolean {
  return candidate !== null && typeof candidate === 'object' && Object.getPrototypeOf(candidate) === Object.prototype;
}

/** The messages between guest and host (`abi/README.md`). What a guest says is not trusted: it is checked here. */
import type { GuestError, Input, Note, StackFrame, Value, ValueRecord } from '@fermata/protocol';
import { anything, type Form, fields, listOf, Misfit, nullable, number, oneOf, optional, record, text, texts, whole } from './form.ts';

const place = nullable(whole());
const guestError = fields({
  ...{ name: text, message: text, traceback: text, line: place, column: place },
  kind: optional(oneOf('syntax_error', 'tool_error', 'unknown_tool', 'library_not_allowed')),
});

/** The last moment that a date can name; a program may well sleep for ever. */
const LAST_MS = 8.64e15;
const due: Form<number | null> = (at) => {
  if (at !== null && (typeof at !== 'number' || Number.isNaN(at))) throw new Misfit('a time is wanted');
  return at && Math.max(-LAST_MS, Math.min(at, LAST_MS));
};

const SAID = {
  ready: fields({ say: text }),
  wait: fields({ say: text, due }),
  done: fields({ say: text, value: anything }),
  failed: fields({ say: text, error: guestError }),
};
const NOTES = {
  step: fields({ note: text, name: text }),
  step_result: fields({ note: text, name: text, value: anything }),
  progress: fields({ note: text, value: number }),
  checkpoint: fields({ note: text }),
  finding: fields({ note: text, message: text, line: place }),
};
const call = fields({ id: whole(), name: text, args: record });
const stack = fields({ stack: listOf(fields({ file: text, line: place, function: text, locals: texts })) });

export type Said = { say: 'ready' } | { say: 'wait'; due: number | null } | { say: 'done'; value: Value } | { say: 'failed'; error: GuestError };

/** A guest keeps to the form of its messages; one that does not is the program's own, and ends it. */
export class RefusedMessage extends Error {
  asGuestError(): GuestError {
    return { name: 'SystemError', message: `the program sent a message of its own to the host: ${this.message}`, traceback: '', line: null, column: null };
  }
}

/** These throw {@link RefusedMessage}. */
export function readSaid(message: Value): Said {
  return inForm(kindOf('say', SAID), message) as Said;
}
export function readCall(message: Value): { id: number; name: string; args: ValueRecord } {
  return inForm(call, message);
}
export function readStack(message: Value): StackFrame[] {
  return inForm(stack, message).stack;
}
export function readNote(message: Value): Note {
  return inForm(kindOf('note', NOTES), message) as Note;
}

/** The field of this name says which of the forms a message has. */
function kindOf(name: string, forms: Record<string, Form<unknown>>): Form<unknown> {
  const kind = oneOf(...Object.keys(forms));
  const named = fields({ [name]: kind });
  return (message) => forms[named(message)[name] as string]?.(message);
}

function inForm<T>(form: Form<T>, message: Value): T {
  try {
    return form(message);
  } catch (error) {
    if (error instanceof Misfit) throw new RefusedMessage(`${error.path.join('.') || 'it'}: ${error.message}`);
    throw error;
  }
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

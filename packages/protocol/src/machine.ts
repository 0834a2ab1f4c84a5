/**
 * The contract of a machine: it never calls out. It is advanced, and it returns an outcome.
 *
 * Everything that happens to a program is an {@link Input} or an {@link Outcome}: plain values that can be written
 * down, so that running, pausing, crashing, replaying, forking and moving elsewhere are one code path.
 */
import type { LimitKind, Limits } from './limits.ts';
import type { Value, ValueRecord } from './values.ts';

/** Languages that the Wasm images run. */
export type Language = 'python' | 'javascript' | 'typescript';

/** What a program may know of a tool: enough to call it with positional arguments and to suggest a near name. */
export interface ToolName {
  name: string;
  /** Argument names in order, or null where they are not known. */
  parameters: string[] | null;
}

/** A program and what it starts with. */
export interface Program {
  language: Language;
  code: string;
  input?: Value;
  stdin?: string | Uint8Array;
  /** Name of the program's file: in tracebacks, `__file__` and `sys.argv`. Python only; absent = `main.py`. */
  file?: string;
  tools?: ToolName[];
  /** Files put into `/work` or `/tmp` before the program starts, by absolute path. */
  files?: { path: string; data: Uint8Array }[];
  /** Modules that the user's code may import; absent = all. Python only (JavaScript programs import nothing). */
  allowedLibraries?: string[];
  /** Modules without which it is not started. */
  requiredLibraries?: string[];
  /** Programs that it must not try to start, by name. */
  blockedCommands?: string[];
  /** Refuses what reaches around the check: `os`, `eval` and their like. */
  strict?: boolean;
  /** Keep the globals of the program that ran before in the same machine. */
  shared?: boolean;
}

/** A tool call that a program has started. Ids count up from 1 within a machine. */
export interface Call {
  id: number;
  name: string;
  args: ValueRecord;
}

/** A tool's failure, delivered into the program as a catchable exception. */
export interface ToolFailure {
  name: string;
  message: string;
  data?: Value;
}

export type CallResult = { ok: Value } | { error: ToolFailure };

/** What a machine is given to go on. `nowMs`: milliseconds since 1970 UTC; it becomes the anchor of the virtual clock. */
export type Input =
  /** `limits`: in the place of those before; output and calls count from here. */
  | { kind: 'start'; program: Program; seed: Uint8Array; nowMs: number; limits?: Limits }
  /** After `slice-used`. */
  | { kind: 'go' }
  /** After `calls`: one answer. */
  | { kind: 'answer'; callId: number; result: CallResult; nowMs: number }
  /** After `calls` with `dueMs`: that time has come. */
  | { kind: 'timer'; nowMs: number };

/** What a stopped machine can be given next: `answer` also stands for the timer, where `dueMs` is set. */
export type Wait = { for: 'start' } | { for: 'go' } | { for: 'answer'; dueMs: number | null };

/** An uncaught error of the program. Line and column count from 1 and refer to the user's own source. */
export interface GuestError {
  name: string;
  message: string;
  traceback: string;
  line: number | null;
  column: number | null;
  /** What sort of fault it is, where the guest knows; absent for an ordinary exception. */
  kind?: 'syntax_error' | 'tool_error' | 'unknown_tool' | 'library_not_allowed' | undefined;
}

export interface OutputChunk {
  stream: 'stdout' | 'stderr';
  /** Where this chunk begins, in bytes of all output of the machine so far; a stretch run again has the same offsets. */
  offset: number;
  bytes: Uint8Array;
}

export type Note =
  | { note: 'step'; name: string }
  | { note: 'step_result'; name: string; value: Value }
  | { note: 'progress'; value: number }
  | { note: 'checkpoint' }
  | { note: 'finding'; message: string; line: number | null };

export type Emission = { kind: 'output'; chunk: OutputChunk } | { kind: 'call'; call: Call } | { kind: 'note'; note: Note };

/** What came out on the way to an outcome, in the order in which the program made it. */
export interface Emitted {
  emitted: Emission[];
}

export type Outcome = Emitted &
  (
    | { kind: 'done'; value: Value }
    | { kind: 'failed'; error: GuestError }
    /** Nothing is left to run: one of the pending calls must be answered, or `dueMs` (ms since 1970) must come. */
    | { kind: 'calls'; pending: number[]; dueMs: number | null }
    | { kind: 'slice-used' }
    /** A limit ended the program; `error` where the program met it as an exception that it did not catch. */
    | { kind: 'limit'; limit: LimitKind; message: string; error?: GuestError }
  );

/** Spent so far, cumulative in the machine. */
export interface MachineUsage {
  fuel: number;
  /** Linear memory above the image's own, in bytes. */
  memoryBytes: number;
  peakMemoryBytes: number;
  diskBytes: number;
  outputBytes: number;
  calls: number;
}

/** A frame of a stopped program, outermost first. */
export interface StackFrame {
  file: string;
  line: number | null;
  function: string;
  /** Name to a short text of its value. */
  locals: Record<string, string>;
}

/** A look into a stopped machine. */
export interface Inspection {
  stack: StackFrame[];
  pending: Call[];
  files: { path: string; bytes: number }[];
  /** Why the stack could not be seen; it is empty then. */
  incomplete?: string;
}

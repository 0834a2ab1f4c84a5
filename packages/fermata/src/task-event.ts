/** What a task tells on the way. */
import type { Call, CallProgress, CallResult, Note } from '@fermata/protocol';
import type { CheckRule } from '@fermata/tools/check';
import type { TaskStatus } from './task-result.ts';

export type TaskEvent =
  /** The task has to wait for a place to run, and why. */
  | { type: 'queued'; reason: string }
  | { type: 'status'; status: TaskStatus }
  | { type: 'output'; stream: 'stdout' | 'stderr'; text: string }
  | { type: 'call'; call: Call }
  | { type: 'call_settled'; call: Call; result: CallResult }
  /** What a tool says of how far it is. */
  | ({ type: 'call_progress'; call: Call } & CallProgress)
  | { type: 'step'; name: string }
  | { type: 'progress'; value: number }
  | { type: 'checkpoint' }
  /** Of the program while it runs; with a rule, of its text before it begins (an error then ends it). */
  | { type: 'finding'; message: string; line: number | null; column?: number; rule?: CheckRule; severity?: 'error' | 'warning' }
  | { type: 'position'; line: number; column: number };

/** A listener that can be told without fear: what it throws becomes a warning of the process. */
export function guarded(listener: ((event: TaskEvent) => void) | undefined): (event: TaskEvent) => void {
  return (event) => {
    try {
      listener?.(event);
    } catch (error) {
      process.emitWarning(`onEvent failed at a ${event.type}: ${error}`);
    }
  };
}

/** What a program says of itself, as an event; the result of a step is told to nobody. */
export function eventOfNote(note: Note): TaskEvent | undefined {
  switch (note.note) {
    case 'step':
      return { type: 'step', name: note.name };
    case 'progress':
      return { type: 'progress', value: note.value };
    case 'checkpoint':
      return { type: 'checkpoint' };
    case 'finding':
      return { type: 'finding', message: note.message, line: note.line };
    case 'step_result':
      return undefined;
  }
}

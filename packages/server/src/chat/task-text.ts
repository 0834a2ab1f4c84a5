/**
 * The text of a task's answer while the model writes it. Only what is sure to be the beginning of the answer is told: nothing of a reply
 * whose beginning was missed, and nothing of one in which the model may still ask to read more.
 */
import type { Engine, TaskEvent } from '@fermata/engine';
import type { ChatStand } from './chat-task.ts';
import type { AnswerTelling } from './stream-answer.ts';

interface Asked {
  n: number;
  phase: string;
  functions: readonly unknown[];
}
/** `at`: how many characters of the reply came before it. */
type Told = { n: number; phase: string } & ({ text: string; at: number } | { restart: true });

/** Resolves when `over` aborts, or the task has ended. */
export async function taskText(engine: Engine, { ref }: ChatStand, { onText, onRestart }: Omit<AnswerTelling, 'signal'>, over: AbortSignal): Promise<void> {
  const text = new AnswerText();
  for await (const event of engine.events(ref, { live: true, signal: over })) {
    const told = text.take(event);
    if (told === 'restart') onRestart();
    else if (told) onText(told);
  }
}

/** What of a task's events is text of its answer. */
export class AnswerText {
  /** The request whose reply is the answer. */
  #n: number | undefined;
  #text = '';
  /** Of it, without the white space around it, which an answer does not have. */
  #told = '';

  /** Text to be told; `restart`: what was told is said again, or otherwise. */
  take({ kind, data }: TaskEvent): string | 'restart' | undefined {
    if (kind === 'model_asked') {
      const { n, phase, functions } = data as Asked;
      const before = this.#told;
      this.#n = phase === 'answering' && functions.length === 0 ? n : undefined;
      this.#text = '';
      this.#told = '';
      return before === '' ? undefined : 'restart';
    }
    if (kind !== 'model' || (data as Told).n !== this.#n) return undefined;
    const told = data as Told;
    if ('restart' in told) {
      this.#text = '';
      this.#told = '';
      return 'restart';
    }
    // A piece before it was missed; the whole is told in the end.
    if (told.at !== this.#text.length) return undefined;
    this.#text += told.text;
    const clean = this.#text.trim();
    const more = clean.slice(this.#told.length);
    this.#told = clean;
    return more || undefined;
  }
}

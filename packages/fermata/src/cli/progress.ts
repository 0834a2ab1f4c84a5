/**
 * What happens, told on stderr: steps, calls and findings as lines, and on a terminal one live line with the time, the
 * line of the program and the calls it waits for. Nothing here goes to stdout.
 */
import { fstatSync } from 'node:fs';
import { styleText } from 'node:util';
import { toWire } from '@fermata/protocol';
import type { TaskEvent } from '../task-event.ts';

const REDRAW_MS = 100;
const MAX_ARGUMENTS = 100;
/** Whether stdout and stderr are one terminal, file or pipe. */
const SHARED = isShared();

export class Progress {
  readonly #live = process.stderr.isTTY === true;
  readonly #quiet: boolean;
  readonly #began = performance.now();
  readonly #pending = new Map<number, { name: string; began: number; progress?: string }>();
  #line: number | undefined;
  #step = '';
  #fraction: number | undefined;
  #shown = false;
  /** A person is being asked, at the place where the live line would be. */
  #asking = false;
  /** The program's output, where it goes to the place that stderr goes to, has not ended its line. */
  #outputOpen = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(quiet: boolean) {
    this.#quiet = quiet;
    if (this.#live && !quiet) this.#timer = setInterval(() => this.#redraw(), REDRAW_MS).unref();
  }

  readonly onEvent = (event: TaskEvent): void => {
    switch (event.type) {
      case 'output':
        this.#clear();
        if (event.stream === 'stderr' || SHARED) this.#outputOpen = !event.text.endsWith('\n');
        return;
      case 'position':
        this.#line = event.line;
        return;
      case 'progress':
        this.#fraction = event.value;
        return;
      case 'step':
        this.#step = event.name;
        return this.line(styled('cyan', `step ${event.name}`));
      case 'call':
        this.#pending.set(event.call.id, { name: event.call.name, began: performance.now() });
        return this.line(`${styled('dim', 'call')} ${event.call.name}(${shorten(event.call.args)})`);
      case 'call_progress': {
        const pending = this.#pending.get(event.call.id);
        const { progress, total, message } = event;
        if (pending) pending.progress = ` ${progress}${total === undefined ? '' : `/${total}`}${message ? ` ${message.split('\n')[0]}` : ''}`;
        return;
      }
      case 'call_settled': {
        const began = this.#pending.get(event.call.id)?.began;
        this.#pending.delete(event.call.id);
        const took = began === undefined ? '' : ` (${Math.round(performance.now() - began)} ms)`;
        const failed = 'error' in event.result ? styled('red', ` failed: ${event.result.error.message}`) : '';
        return this.line(`${styled('dim', 'done')} ${event.call.name}${took}${failed}`);
      }
      case 'finding':
        // An error of the check ends the task, and is told as that.
        if (event.severity === 'error') return;
        return this.line(styled('yellow', `note ${event.message}${event.line === null ? '' : ` (line ${event.line})`}`));
      default:
    }
  };

  /** What goes on between a task and its model. */
  phase(name: string): void {
    this.#step = name;
    this.#line = undefined;
    this.line(styled('cyan', `step ${name}`));
  }

  /** A program that a model has written. What is told from here on is its own. */
  program(head: string, code: string): void {
    this.#step = '';
    this.#line = undefined;
    this.line(styled('cyan', head));
    for (const line of code.trimEnd().split('\n')) this.line(styled('dim', `  ${line}`));
  }

  /** What is wrong with it, and goes back to the model. */
  fault({ code, message, line }: { code: string; message: string; line?: number | null }): void {
    this.line(styled('yellow', `fault ${code}: ${message.split('\n')[0]}${line == null ? '' : ` (line ${line})`}`));
  }

  /** A line of its own, below what the program has printed so far. */
  line(text: string): void {
    if (!this.#quiet) this.say(text);
  }

  /** Something that must be said even when quiet. */
  say(text: string): void {
    this.#clear();
    process.stderr.write(`${this.#outputOpen ? '\n' : ''}${text}\n`);
    this.#outputOpen = false;
  }

  /** Leaves the terminal to a question until it is answered. */
  async whileAsking<T>(question: () => Promise<T>): Promise<T> {
    this.#clear();
    this.#asking = true;
    try {
      return await question();
    } finally {
      this.#asking = false;
    }
  }

  end(): void {
    clearInterval(this.#timer);
    this.#clear();
  }

  #redraw(): void {
    if (this.#outputOpen || this.#asking) return;
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(1);
    const waits = [...this.#pending.values()].map(({ name, progress = '' }) => `${name}${progress}`);
    const parts = [`${seconds}s`];
    if (this.#fraction !== undefined) parts.push(`${Math.round(this.#fraction * 100)}%`);
    if (this.#step) parts.push(this.#step);
    if (this.#line !== undefined) parts.push(`line ${this.#line}`);
    if (waits.length > 0) parts.push(`waiting for ${waits.slice(0, 3).join(', ')}${waits.length > 3 ? ` and ${waits.length - 3} more` : ''}`);
    this.#clear();
    process.stderr.write(styled('dim', parts.join('  ').slice(0, (process.stderr.columns ?? 80) - 1)));
    this.#shown = true;
  }
  #clear(): void {
    if (!this.#shown) return;
    process.stderr.write('\r\x1b[2K');
    this.#shown = false;
  }
}

function isShared(): boolean {
  try {
    const [out, err] = [fstatSync(1), fstatSync(2)];
    return out.dev === err.dev && out.ino === err.ino;
  } catch {
    return false;
  }
}

/** In colour only where stderr shows colours. */
function styled(style: 'cyan' | 'dim' | 'red' | 'yellow', text: string): string {
  return styleText(style, text, { stream: process.stderr });
}

function shorten(args: unknown): string {
  const text = JSON.stringify(toWire(args));
  return text.length > MAX_ARGUMENTS ? `${text.slice(0, MAX_ARGUMENTS)}...` : text;
}

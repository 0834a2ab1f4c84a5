/**
 * What must hold after every attack, and at the end of all of them: the canaries are as they were, nobody has reached the
 * trap, a trivial task succeeds, and the process has neither been replaced, nor left others behind, nor grown.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Language } from 'fermata';
import type { Premises } from '../player/premises.ts';
import { identity, processesUnder, type SeenProcess, stillThere } from '../player/processes.ts';
import type { Surroundings } from '../player/surroundings.ts';

/** What a process may be larger by at the end: the images, compiled code, and what V8 keeps for later. */
const GROWTH_BYTES = 160 * 1024 * 1024;
/** How long V8 and the kernel may take to give back what nobody uses. */
const SETTLE_MS = 15_000;
const LOOK_EVERY_MS = 1000;

/** A flag on the command line would go to the Workers too, which refuse it. */
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

export class Aftermath {
  readonly surroundings: Surroundings;
  readonly #pid = process.pid;
  readonly #before = new Set(processesUnder(process.pid).map(identity));
  readonly #seen = new Map<string, SeenProcess>();
  readonly #looking: NodeJS.Timeout;
  #rssAtStart = 0;

  constructor(surroundings: Surroundings) {
    this.surroundings = surroundings;
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#looking.unref();
  }

  /** From here on this process is to stay as large as it is. */
  begin(): void {
    this.#rssAtStart = process.memoryUsage.rss();
  }

  /** What is wrong after a case. */
  async problems({ fermata }: Premises): Promise<string[]> {
    this.#look();
    const { trapped } = this.surroundings;
    return [
      ...this.surroundings.damage(),
      ...(trapped > 0 ? [`the trap was reached ${trapped} times`] : []),
      ...(process.pid === this.#pid ? [] : ['this is another process']),
      ...(await trivial(fermata, 'javascript', 'return 6 * 7')),
      ...(await trivial(fermata, 'python', '6 * 7')),
    ];
  }

  /** What is wrong when everything was closed. */
  async problemsAtTheEnd(): Promise<string[]> {
    const end = performance.now() + SETTLE_MS;
    let left = this.#left();
    while (performance.now() < end && (left.length > 0 || this.grownBytes > GROWTH_BYTES)) {
      collectGarbage();
      await sleep(LOOK_EVERY_MS);
      left = this.#left();
    }
    clearInterval(this.#looking);
    const grown = Math.round(this.grownBytes / 2 ** 20);
    return [...left.map((command) => `a process was left over: ${command}`), ...(this.grownBytes > GROWTH_BYTES ? [`this process has grown by ${grown} MiB`] : [])];
  }

  get grownBytes(): number {
    return process.memoryUsage.rss() - this.#rssAtStart;
  }

  #look(): void {
    for (const one of processesUnder(process.pid)) if (!this.#before.has(identity(one))) this.#seen.set(identity(one), one);
  }

  /** Also those whose parent has died, and which therefore are no longer under this process. */
  #left(): string[] {
    this.#look();
    return stillThere(this.#seen.values()).map(({ command }) => command.slice(0, 200));
  }
}

async function trivial(fermata: Premises['fermata'], language: Language, code: string): Promise<string[]> {
  const { output, error } = await fermata.run({ language, code });
  return output === 42 ? [] : [`a trivial ${language} task right after came to ${error?.code ?? String(output)}`];
}

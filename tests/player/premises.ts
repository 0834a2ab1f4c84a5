/** Where the tasks of a case live: one Fermata at a time, which a restart replaces. Only bytes get from one to the next. */
import { randomBytes } from 'node:crypto';
import { createFermata, type Fermata, type FermataOptions } from 'fermata';

const sealKey = { id: 'cases', key: randomBytes(32) };

export class Premises implements AsyncDisposable {
  readonly #options: FermataOptions;
  #fermata: Fermata;

  constructor(options: FermataOptions = {}) {
    this.#options = { sealKey, ...options };
    this.#fermata = createFermata(this.#options);
  }

  get fermata(): Fermata {
    return this.#fermata;
  }

  async restart(): Promise<void> {
    await this.#fermata.close();
    this.#fermata = createFermata(this.#options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#fermata.close();
  }
}

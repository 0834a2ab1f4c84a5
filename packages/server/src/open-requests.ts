/** Counts the requests that a tenant holds open (event streams, waits), so that one cannot take all connections. */
import { QuotaExceeded } from '@fermata/protocol';

export class OpenRequests {
  readonly #max: number;
  readonly #open = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Call what it returns when the request ends. Throws {@link QuotaExceeded}. */
  enter(tenant: string): () => void {
    const open = this.#open.get(tenant) ?? 0;
    if (open >= this.#max) throw new QuotaExceeded(`${open} requests are open already`, 'End event streams and waits that are not needed, or try again later.');
    this.#open.set(tenant, open + 1);
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      const left = (this.#open.get(tenant) ?? 1) - 1;
      if (left > 0) this.#open.set(tenant, left);
      else this.#open.delete(tenant);
    };
  }

  async during<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    const leave = this.enter(tenant);
    try {
      return await work();
    } finally {
      leave();
    }
  }
}

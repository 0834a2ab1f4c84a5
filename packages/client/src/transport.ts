/**
 * Requests and answers. What can be repeated without harm (reading, setting, and creating under an Idempotency-Key) is sent again when
 * there was no answer or the server has no room now.
 */
import { errorOf, FermataApiError } from './api-error.ts';
import { sleep } from './sleep.ts';

export interface ClientOptions {
  /** Of the server, e.g. `http://127.0.0.1:7070`. */
  url: string;
  key: string;
  /** How often a request is sent again. Default: 2. */
  retries?: number;
  /** Default: that of the platform. */
  fetch?: typeof globalThis.fetch;
}

export interface RequestOptions {
  query?: Record<string, string | number | boolean | undefined>;
  /** Is sent as JSON. */
  json?: unknown;
  body?: Blob | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  /** It creates something: it goes under a key, so that it can be repeated. */
  creates?: boolean;
  signal?: AbortSignal | undefined;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
const LONGEST_WAIT_MS = 30_000;

export class Transport {
  readonly #base: string;
  readonly #key: string;
  readonly #retries: number;
  readonly #fetch: typeof globalThis.fetch;

  constructor({ url, key, retries = 2, fetch = globalThis.fetch }: ClientOptions) {
    this.#base = `${url.replace(/\/+$/, '')}/api/v1`;
    this.#key = key;
    this.#retries = retries;
    this.#fetch = (...args) => fetch(...args);
  }

  async json<T>(method: Method, path: string, options: RequestOptions = {}): Promise<T> {
    const response = await this.send(method, path, options);
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  /** Throws {@link FermataApiError} for any answer but a success. */
  async send(method: Method, path: string, options: RequestOptions = {}): Promise<Response> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#key}`, ...options.headers };
    if (options.creates) headers['idempotency-key'] ??= crypto.randomUUID();
    if (options.json !== undefined) headers['content-type'] = 'application/json';
    const body = options.json === undefined ? options.body : JSON.stringify(options.json);
    const init: RequestInit = { method, headers, ...(body === undefined ? {} : { body }), ...(options.signal ? { signal: options.signal } : {}) };
    const repeatable = method === 'GET' || method === 'PUT' || headers['idempotency-key'] !== undefined;
    for (let tries = 0; ; tries++) {
      const last = !repeatable || tries >= this.#retries;
      const response = await this.#try(`${this.#base}${path}${queryOf(options.query)}`, init, last);
      if (response?.ok) return response;
      if (response && (last || (response.status !== 503 && response.status !== 429))) throw await errorOf(response);
      await response?.body?.cancel();
      const asked = Number(response?.headers.get('retry-after') ?? 0) * 1000;
      await sleep(Math.min(asked || 200 * 2 ** tries, LONGEST_WAIT_MS), options.signal);
    }
  }

  async #try(url: string, init: RequestInit, last: boolean): Promise<Response | undefined> {
    try {
      return await this.#fetch(url, init);
    } catch (error) {
      if (init.signal?.aborted) throw error;
      if (!last) return undefined;
      throw new FermataApiError({ code: 'unreachable', status: 0, detail: `no answer from ${new URL(url).origin}`, hint: 'Check the address, and that the server runs.' }, error);
    }
  }
}

export const part = (id: string) => encodeURIComponent(id);

function queryOf(query: RequestOptions['query'] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length > 0 ? `?${new URLSearchParams(given)}` : '';
}

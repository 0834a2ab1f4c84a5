/**
 * A tool source at work: the tools that it has told of, and how it is.
 *
 * Tools stay as they were known while the source cannot be reached; a call of one tries again. A source that was never reached
 * has none, and is tried again by itself.
 */
import { FermataError } from '@fermata/protocol';
import type { SourceContext, SourceKind, SourceTool, ToolSource } from './tool-source.ts';

export type SourceState = 'connecting' | 'connected' | 'failed';

export interface LiveSourceOptions {
  name: string;
  open: (context: Pick<SourceContext, 'onChanged' | 'onState'>) => ToolSource;
  /** null: part of the configuration. */
  createdAt: number | null;
  /** What it told before, in this process or another. */
  listing?: unknown;
  /** Told of a listing that is other than the one before. */
  onListing: (listing: unknown) => void;
}

const RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 5 * 60_000;

export class LiveSource {
  readonly name: string;
  readonly createdAt: number | null;
  readonly #source: ToolSource;
  readonly #onListing: (listing: unknown) => void;
  #listed: string | undefined;
  #tools: readonly SourceTool[] = [];
  #state: SourceState = 'connecting';
  #fault: FermataError | undefined;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = RETRY_MS;
  #asking: Promise<void> | undefined;
  /** It has changed while it was asked. */
  #again = false;
  #closed = false;

  constructor({ name, open, createdAt, listing, onListing }: LiveSourceOptions) {
    this.name = name;
    this.createdAt = createdAt;
    this.#onListing = onListing;
    this.#source = open({
      onChanged: () => {
        this.#again = this.#asking !== undefined;
        void this.connect();
      },
      onState: (state, why) => this.#isNow(state, why),
    });
    if (listing === undefined) return;
    this.#tools = this.#source.toolsOf(listing);
    this.#listed = JSON.stringify(listing);
    if (!this.#source.changes) this.#state = 'connected';
  }

  get kind(): SourceKind {
    return this.#source.kind;
  }
  get tools(): readonly SourceTool[] {
    return this.#tools;
  }
  get state(): SourceState {
    return this.#state;
  }
  /** Why it failed. */
  get fault(): FermataError | undefined {
    return this.#fault;
  }
  /** Whether what it has must be asked. */
  get isStale(): boolean {
    return this.#state !== 'connected';
  }

  /** Asks what tools there are. Throws `source_failed`, or `invalid_request` where it can never work. */
  async ask(): Promise<void> {
    try {
      const listing = await this.#source.list();
      const listed = JSON.stringify(listing);
      if (listed !== this.#listed) {
        this.#tools = this.#source.toolsOf(JSON.parse(listed));
        this.#listed = listed;
        this.#onListing(listing);
      }
      this.#isNow('connected');
      this.#retryMs = RETRY_MS;
    } catch (error) {
      this.#isNow(
        'failed',
        error instanceof FermataError
          ? error
          : new FermataError('source_failed', `the tool source ${this.name} failed: ${error instanceof Error ? error.message : error}`, { cause: error }),
      );
      throw error;
    }
  }

  /** The same, in the background: a failure is shown, and where nothing is known of its tools it is tried again later. */
  connect(): Promise<void> {
    this.#asking ??= this.ask()
      .catch((error: unknown) => {
        if (this.#tools.length === 0 && !(error instanceof FermataError && error.code === 'invalid_request')) this.#tryLater();
      })
      .finally(() => {
        this.#asking = undefined;
        if (this.#again) void this.connect();
        this.#again = false;
      });
    return this.#asking;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#source.close();
  }

  #isNow(state: SourceState, fault?: FermataError): void {
    const cameBack = state === 'connected' && this.#state === 'failed' && this.#asking === undefined;
    this.#state = state;
    this.#fault = fault;
    // Its tools may be others by now.
    if (cameBack && this.#listed !== undefined) queueMicrotask(() => void this.connect());
  }

  #tryLater(): void {
    if (this.#closed) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.connect(), this.#retryMs).unref();
    this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
  }
}

/**
 * Sessions: tasks that belong together, and on request share an interpreter.
 *
 * Tasks that share one run in the order of their submission. What is shared is a chain of heads: a task begins from the newest
 * head, and success or an ordinary exception makes the next one, in the same commit as the end of the task. A limit, a cancel
 * or a loss leaves the head as it was. Between tasks no machine is held.
 */
import { type DocumentRow, ENDED, FermataError, type Page, type SealOptions, type Store, type TaskRow } from '@fermata/protocol';
import type { SessionView } from './engine-api.ts';

interface SessionBody {
  /** How many tasks have left their mark on the interpreter. */
  head: number;
  /** Where the newest head is kept; null before the first. */
  blob: string | null;
  language: string | null;
  bytes: number;
}

export interface SessionHead {
  number: number;
  /** Of the interpreter; absent before the first task. */
  data?: Uint8Array;
  /** What its seal is bound to. */
  boundTo: string;
}

const KIND = 'session';

export class Sessions {
  readonly #store: Store;
  readonly #now: () => number;
  /** Unended tasks of each shared interpreter, in the order in which they run. */
  readonly #lines = new Map<string, string[]>();
  readonly #known = new Set<string>();

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** A task that is not ended takes its place in line. Throws `invalid_request` where its language is not that of the session. */
  async join({ tenant, sessionId, taskId, request }: TaskRow): Promise<void> {
    if (sessionId === null) return;
    const key = keyOfSession(tenant, sessionId);
    if (request.sharedInterpreter) {
      const found = await this.#read(tenant, sessionId);
      if (found?.body.language && family(found.body.language) !== family(request.language as string)) {
        throw new FermataError('invalid_request', `the session ${sessionId} shares an interpreter of ${found.body.language}, and this is ${request.language}`, {
          hint: 'Use another session, or do not share the interpreter.',
        });
      }
      const line = this.#lines.get(key) ?? [];
      if (!line.includes(taskId)) line.push(taskId);
      this.#lines.set(key, line);
    }
    if (this.#known.has(key)) return;
    this.#known.add(key);
    const body: SessionBody = { head: 0, blob: null, language: (request.sharedInterpreter && request.language) || null, bytes: 0 };
    const row: DocumentRow = { kind: KIND, tenant, id: sessionId, version: 1, createdAt: this.#now(), body: JSON.stringify(body) };
    await this.#store.commit([{ documents: [{ row, expect: 0 }] }]).catch((error: unknown) => {
      if (!(error instanceof FermataError) || error.code !== 'conflict') throw error;
    });
  }

  /** Whether no task before it in its session is unended. */
  hasTurn(row: TaskRow): boolean {
    return this.#before(row) === undefined;
  }
  /** What it waits for in its session. */
  heldUpBy(row: TaskRow): string | null {
    const before = this.#before(row);
    return before === undefined ? null : `session ${row.sessionId}: the task ${before} is before it`;
  }
  /** It has ended; the id of the task whose turn it is now. */
  leave({ tenant, sessionId, taskId }: TaskRow): string | undefined {
    if (sessionId === null) return undefined;
    const key = keyOfSession(tenant, sessionId);
    const line = this.#lines.get(key);
    const at = line?.indexOf(taskId) ?? -1;
    if (!line || at < 0) return undefined;
    line.splice(at, 1);
    if (line.length === 0) this.#lines.delete(key);
    return at === 0 ? line[0] : undefined;
  }

  /** The head that a task begins from. */
  async head({ tenant, sessionId }: TaskRow): Promise<SessionHead> {
    const found = await this.#read(tenant, sessionId as string);
    const { head = 0, blob = null } = found?.body ?? {};
    const boundTo = bound(tenant, sessionId as string, head);
    if (blob === null) return { number: head, boundTo };
    const data = await this.#store.blob(blob);
    if (!data) throw new FermataError('checkpoint_invalid', `the interpreter of session ${sessionId} is gone from the store`, { hint: 'End the session and begin a new one.' });
    return { number: head, data, boundTo };
  }
  /** How the head after `head` is sealed. */
  sealFor({ tenant, sessionId }: TaskRow, head: number, key: SealOptions['key']): SealOptions {
    return { key, boundTo: bound(tenant, sessionId as string, head + 1) };
  }

  /** Stores the head after `before`; what is given back belongs into the commit of the task's end. */
  async advance({ tenant, sessionId, request }: TaskRow, before: number, data: Uint8Array): Promise<{ row: DocumentRow; expect: number }> {
    const found = await this.#read(tenant, sessionId as string);
    if (found?.body.head !== before) throw new FermataError('conflict', `the session ${sessionId} has gone on, or was ended`);
    const blob = `session_${tenant}_${sessionId}_${before + 1}`;
    await this.#store.putBlob(blob, data);
    const body: SessionBody = { head: before + 1, blob, language: request.language ?? null, bytes: data.length };
    return { row: { ...found.row, version: found.row.version + 1, body: JSON.stringify(body) }, expect: found.row.version };
  }
  /** The head that nobody begins from any more. */
  async forget({ tenant, sessionId }: TaskRow, head: number): Promise<void> {
    if (head > 0) await this.#store.dropBlob(`session_${tenant}_${sessionId}_${head}`);
  }

  async list(tenant: string, { cursor, limit = 50 }: { cursor?: string; limit?: number }): Promise<Page<SessionView>> {
    const page = await this.#store.documents({ kind: KIND, tenant, ...(cursor === undefined ? {} : { cursor }), limit: Math.min(limit, 500) });
    const items = page.items.map(({ id, createdAt, body }) => {
      const { head, language, bytes } = JSON.parse(body) as SessionBody;
      return { sessionId: id, createdAt, head, language, bytes };
    });
    return { ...page, items };
  }

  /** Throws `not_found`, and `invalid_state` while a task of it has not ended. */
  async end(tenant: string, sessionId: string): Promise<void> {
    const found = await this.#read(tenant, sessionId);
    if (!found) throw new FermataError('not_found', `there is no session ${sessionId}`);
    const [first] = this.#lines.get(keyOfSession(tenant, sessionId)) ?? [];
    const row = first === undefined ? undefined : await this.#store.task({ tenant, taskId: first });
    if (row && !ENDED.includes(row.status))
      throw new FermataError('invalid_state', `the task ${first} of session ${sessionId} has not ended`, { hint: 'Wait for it, or cancel it.' });
    await this.#store.commit([{ dropDocuments: [{ kind: KIND, tenant, id: sessionId }] }]);
    this.#known.delete(keyOfSession(tenant, sessionId));
    if (found.body.blob !== null) await this.#store.dropBlob(found.body.blob);
  }

  #before({ tenant, sessionId, taskId, request }: TaskRow): string | undefined {
    if (sessionId === null || !request.sharedInterpreter) return undefined;
    const [first] = this.#lines.get(keyOfSession(tenant, sessionId)) ?? [];
    return first === taskId ? undefined : first;
  }

  async #read(tenant: string, sessionId: string): Promise<{ row: DocumentRow; body: SessionBody } | undefined> {
    const row = await this.#store.document(KIND, tenant, sessionId);
    return row && { row, body: JSON.parse(row.body) as SessionBody };
  }
}

function keyOfSession(tenant: string, sessionId: string): string {
  return `${tenant}/${sessionId}`;
}
function bound(tenant: string, sessionId: string, head: number): string {
  return ['session', tenant, sessionId, head].join('\n');
}
/** Languages of one family run on the same interpreter. */
function family(language: string): string {
  return language === 'typescript' ? 'javascript' : language;
}

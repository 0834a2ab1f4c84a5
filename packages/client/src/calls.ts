/** Calls of tasks, and decisions on them. */
import type { ApprovalPageWire, ApproveWire, CallResultWire, CallsWire, CallWire, RejectWire } from '@fermata/protocol/wire';
import { part, type Transport } from './transport.ts';

export class Calls {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list(taskId: string): Promise<CallWire[]> {
    return (await this.#transport.json<CallsWire>('GET', `/tasks/${part(taskId)}/calls`)).items;
  }
  approve(taskId: string, callId: string, decision: ApproveWire = {}): Promise<CallWire> {
    return this.#decide(taskId, callId, 'approve', decision);
  }
  reject(taskId: string, callId: string, decision: RejectWire = {}): Promise<CallWire> {
    return this.#decide(taskId, callId, 'reject', decision);
  }
  /** Of a client tool, or of a call whose outcome is unknown. */
  result(taskId: string, callId: string, result: CallResultWire): Promise<CallWire> {
    return this.#decide(taskId, callId, 'result', result);
  }
  /** Of a call whose outcome is unknown: its effect may happen twice. */
  retry(taskId: string, callId: string): Promise<CallWire> {
    return this.#decide(taskId, callId, 'retry');
  }
  /** Calls that wait for somebody, over all tasks. */
  approvals(query: { kind?: string; cursor?: string; limit?: number } = {}): Promise<ApprovalPageWire> {
    return this.#transport.json('GET', '/approvals', { query });
  }

  #decide(taskId: string, callId: string, what: string, json?: unknown): Promise<CallWire> {
    return this.#transport.json('POST', `/tasks/${part(taskId)}/calls/${part(callId)}/${what}`, json === undefined ? {} : { json });
  }
}

/** Shows the events of a durable task as they come over the wire: output on stdout and stderr, the rest as progress. */

import { fromWire, type ValueRecord } from '@fermata/protocol';
import type { EventWire } from '@fermata/protocol/wire';
import type { Progress } from './progress.ts';

// biome-ignore lint/suspicious/noExplicitAny: what an event holds follows from its kind
type Data = Record<string, any>;

export function wireEvents({ json, progress, asked = false }: { json: boolean; progress: Progress; asked?: boolean }): (event: EventWire) => void {
  const names = new Map<number, string>();
  const of = (id: number) => ({ id, name: names.get(id) ?? 'call', args: {} });
  return ({ kind, data }) => {
    const told = data as Data;
    switch (kind) {
      case 'output': {
        if (json) return;
        const bytes = told.base64 === undefined ? told.text : Buffer.from(told.base64, 'base64');
        const stream = asked ? 'stderr' : told.stream;
        progress.onEvent({ type: 'output', stream, text: bytes.toString() });
        process[stream as 'stdout' | 'stderr'].write(bytes);
        return;
      }
      case 'position':
        return progress.onEvent({ type: 'position', line: told.line, column: told.column });
      case 'progress':
        return progress.onEvent({ type: 'progress', value: told.value });
      case 'step':
        return progress.onEvent({ type: 'step', name: told.name });
      case 'model_asked':
        return progress.phase(told.phase);
      case 'program':
        return progress.program(`program ${told.version} (${told.language}${told.by === 'model' ? '' : `, by ${told.by}`})`, told.code);
      case 'repair':
        return progress.fault(told.error);
      case 'over_budget':
        return progress.line(`the model has used ${told.tokens} tokens of ${told.max_tokens}; the task pauses`);
      case 'finding':
        return progress.onEvent({ type: 'finding', message: told.message, line: told.line, severity: told.severity });
      case 'call':
        names.set(told.n, told.tool);
        return progress.onEvent({ type: 'call', call: { ...of(told.n), args: fromWire(told.arguments) as ValueRecord } });
      case 'call_progress':
        return progress.onEvent({ type: 'call_progress', call: of(told.n), progress: told.progress, total: told.total, message: told.message });
      case 'call_settled':
        return progress.onEvent({ type: 'call_settled', call: of(told.n), result: told.result });
      default:
    }
  };
}

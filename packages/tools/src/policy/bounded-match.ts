/** A regular expression on a text, both of which may have been chosen to take for ever: after a moment nobody knows. */
import { createContext, Script } from 'node:vm';

const MOST_MS = 50;
const context = createContext({ source: '', text: '' }) as { source: string; text: string };
const script = new Script('new RegExp(source, "u").test(text)');

/** Whether it fits; undefined where that takes too long, or where it is no regular expression. */
export function boundedMatch(source: string, text: string): boolean | undefined {
  context.source = source;
  context.text = text;
  try {
    return script.runInContext(context as never, { timeout: MOST_MS }) as boolean;
  } catch {
    return undefined;
  } finally {
    context.source = context.text = '';
  }
}

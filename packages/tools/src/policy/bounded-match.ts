/** A regular expression on a text, both of which may have been chosen to take for ever: after a moment nobody knows. */
import { createContext, Script } from 'node:vm';

const MOST_MS = 50;
/** On a machine that is busy with other things a moment may be over before it was used. */
const MOST_TRIES = 20;
const context = createContext({ source: '', text: '' }) as { source: string; text: string };
const script = new Script('new RegExp(source, "u").test(text)');
const spentMs = () => {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1000;
};

/** Whether it fits; undefined where that takes too long, or where it is no regular expression. */
export function boundedMatch(source: string, text: string): boolean | undefined {
  context.source = source;
  context.text = text;
  const before = spentMs();
  try {
    for (let tries = 1; ; tries++) {
      try {
        return script.runInContext(context as never, { timeout: MOST_MS }) as boolean;
      } catch (error) {
        const isOver = (error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT' || spentMs() - before >= MOST_MS / 2;
        if (isOver || tries >= MOST_TRIES) return undefined;
      }
    }
  } finally {
    context.source = context.text = '';
  }
}

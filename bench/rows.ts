/** The rows of the bench, in the order in which they run and are shown. */
import type { Row } from './row.ts';
import { coldJavascript, coldPython } from './rows/cold.ts';
import { continueRow } from './rows/continue.ts';
import { continueWaitingRow } from './rows/continue-waiting.ts';
import { cpuJavascript } from './rows/cpu-javascript.ts';
import { cpuPython } from './rows/cpu-python.ts';
import { durableTask } from './rows/durable-task.ts';
import { pauseRow } from './rows/pause.ts';
import { snapshotSize } from './rows/snapshot-size.ts';
import { toolCall } from './rows/tool-call.ts';
import { trivialJavascript } from './rows/trivial-javascript.ts';
import { trivialPython } from './rows/trivial-python.ts';
import { waitingMemory } from './rows/waiting-memory.ts';

export const ROWS: readonly Row[] = [
  trivialJavascript,
  trivialPython,
  coldJavascript,
  coldPython,
  snapshotSize,
  pauseRow,
  continueRow,
  continueWaitingRow,
  cpuPython,
  cpuJavascript,
  toolCall,
  waitingMemory,
  durableTask,
];

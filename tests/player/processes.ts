/** The processes that came from this one, as the kernel tells them; none are seen where there is no /proc. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface SeenProcess {
  pid: number;
  parent: number;
  /** With its pid it names a process for ever. */
  startedAt: string;
  command: string;
}

/** Whether {@link processesUnder} can see anything here. */
export const SEES_PROCESSES = existsSync('/proc/self/stat');

/** Everything that `root` has started, and what that has started; those that have ended and wait for their parent aside. */
export function processesUnder(root: number): SeenProcess[] {
  const all = allProcesses();
  const found: SeenProcess[] = [];
  for (let parents = [root]; parents.length > 0; ) {
    const children = all.filter(({ parent }) => parents.includes(parent));
    found.push(...children);
    parents = children.map(({ pid }) => pid);
  }
  return found;
}

/** Those of the processes that still live. */
export function stillThere(processes: Iterable<SeenProcess>): SeenProcess[] {
  const now = new Set(allProcesses().map(identity));
  return [...processes].filter((one) => now.has(identity(one)));
}

export function identity({ pid, startedAt }: SeenProcess): string {
  return `${pid} ${startedAt}`;
}

function allProcesses(): SeenProcess[] {
  if (!SEES_PROCESSES) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => seen(Number(pid)) ?? []);
}

function seen(pid: number): SeenProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name may hold anything; the fields after it are the state, the parent, and so on, to the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
    return { pid, parent: Number(fields[1]), startedAt: fields[19] ?? '', command };
  } catch {
    return undefined;
  }
}

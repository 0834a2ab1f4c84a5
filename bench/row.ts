/**
 * What a row of the bench is. One file in rows/ per row, listed in rows.ts.
 *
 * A row has contenders, Fermata and its peers, and cases, such as programs. In every round each contender gives one sample
 * of each case, one after the other, so that whatever disturbs the machine disturbs them all.
 */
export interface Row {
  name: string;
  title: string;
  /** How it is measured, in sentences; printed with the figures. */
  method: string;
  unit: 'ms' | 'us' | 'KB';
  rounds: number;
  warmUps: number;
  cases: readonly Case[];
  /** The contender that ratios are made against. */
  against?: string;
  targets: readonly Target[];
  open(): Promise<Contender[]>;
}

export interface Case {
  name: string;
  /** What every sample of it must give, so that only equal work is compared. */
  expected: unknown;
}

export interface Sample {
  value: number;
  output: unknown;
}

export interface Contender {
  name: string;
  note?: string;
  /** Why it takes no part; it has no samples then. */
  absent?: string;
  /** Rounds at most, for one that is slow. */
  rounds?: number;
  /** Cases that it has nothing to do with. */
  without?: readonly string[];
  sample(name: string): Promise<Sample>;
  close?(): Promise<void>;
}

export interface Target {
  what: string;
  of: string;
  /** A case, or `ratio`: the contender's ratio to the row's `against`. */
  in: string;
  atMost: number;
  aim?: number;
}

/** A contender that may be absent: what `open` throws is the reason. */
export async function tried(name: string, open: () => Promise<Omit<Contender, 'name'>>): Promise<Contender> {
  try {
    return { name, ...(await open()) };
  } catch (error) {
    return { name, absent: reasonOf(error), sample: () => Promise.reject(error) };
  }
}

export function reasonOf(error: unknown): string {
  return String(error instanceof Error ? error.message : error)
    .split('\n')[0]
    ?.slice(0, 200) as string;
}

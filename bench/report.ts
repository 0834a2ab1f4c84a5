/**
 * The result of a bench run, as `--json` prints it and `results/latest.json` keeps it. docs/benchmarks.md is made from it.
 *
 * A figure is the median of its rounds; `p95` and `least` say how far they lie apart. All of a row have the row's unit.
 */
export interface Report {
  format: 'fermata-bench';
  version: 1;
  /** When the run began, ISO 8601. */
  at: string;
  surroundings: Surroundings;
  peers: PeerReport[];
  rows: RowReport[];
}

/** The machine, as far as it decides the figures. */
export interface Surroundings {
  cpu: string;
  cores: number;
  memoryGiB: number;
  os: string;
  kernel: string;
  node: string;
  python: string | null;
  /** What it costs to touch a page of memory for the first time; on some virtual machines this decides most figures. */
  pageFaultUs: number;
}

export interface PeerReport {
  name: string;
  version: string | null;
  /** Why it could not take part. */
  absent?: string;
}

export interface RowReport {
  name: string;
  title: string;
  method: string;
  unit: string;
  warmUps: number;
  /** When the row began. */
  at: string;
  /** One-minute load average before and after. */
  load: [number, number];
  cases: string[];
  contenders: ContenderReport[];
  /** The contender that ratios are made against. */
  against?: string;
  targets: TargetReport[];
}

export interface ContenderReport {
  name: string;
  note?: string;
  absent?: string;
  /** By case; absent where it cannot do it. */
  figures: Record<string, Figure>;
  /** Why it cannot do a case, by case. */
  cannot: Record<string, string>;
  /** Geometric mean, over the cases that both can do, of the median of the ratios of the same round. */
  ratio?: number;
}

export interface Figure {
  median: number;
  p95: number;
  least: number;
  rounds: number;
}

export interface TargetReport {
  what: string;
  unit: string;
  atMost: number;
  aim?: number;
  /** Null where it could not be measured. */
  value: number | null;
  met: boolean;
}

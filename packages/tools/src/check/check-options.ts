/** What the check of a program is told besides the program. */
import type { CodeConstraints } from './is-worth-checking.ts';

/** What must be known of a tool. */
export interface CheckedTool {
  name: string;
  /** Names of its arguments in order; null: not known. */
  names: readonly string[] | null;
  /** JSON Schema of its arguments. Absent: they are not looked at. */
  parameters?: Readonly<Record<string, unknown>>;
  /** What judges them when it is called: throws where they do not fit. */
  check?: (args: never) => unknown;
}

export interface CheckOptions extends CodeConstraints {
  language: 'python' | 'javascript';
  /** Those that the program can call. Absent: calls are not looked at. */
  tools?: readonly CheckedTool[];
  /** Modules that the image has, without those inside others. */
  libraries: readonly string[];
  /** Whether there are hosts that it may reach. */
  network?: boolean;
  /** Modules that the program finds in `/work`. */
  ownModules?: readonly string[];
}

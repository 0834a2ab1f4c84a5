/** The cases: small programs, each with the right answer. The format is the bank's own; ours has the fields of {@link Case}. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Args = Record<string, unknown>;

/** What a mock tool does. */
export interface Behaviour {
  returns?: Json;
  /** JSON as text, for values that a JSON file cannot hold as they are. */
  returns_raw_json?: string;
  echo?: boolean;
  throws?: { name?: string; message: string; host_only?: Json };
  delay_ms?: number;
  delay_by_arg?: string;
  map?: { arg: string; to: Record<string, Json> };
  by_arg?: { arg: string; cases: Record<string, Behaviour> };
  never?: boolean;
  mcp_result?: { isError?: boolean; content: { type: string; text?: string }[]; structuredContent?: Json };
  requires_approval?: boolean;
  /** The answer comes from the scenario. */
  external?: boolean;
}

export type Expectations = Record<string, Json>;

/** One step of a scenario; which keys it has says what it is. */
export type ScenarioStep = Record<string, Json> & { expect?: Expectations };

export interface Case {
  id: string;
  language: 'python' | 'javascript' | 'typescript' | 'bash';
  program: string;
  tools?: Record<string, Behaviour>;
  limits?: Record<string, Json>;
  engines?: string[];
  scenario?: ScenarioStep[];
  expect: Expectations;
  /** What the program itself comes to, beside `expect`, which a bank for many products must leave open. */
  exact?: Expectations;
}

/** Those that the program may reach. */
export function hostsOf({ limits = {} }: Case): string[] {
  return (limits.network_allow as string[] | undefined) ?? [];
}

export type Bank = 'bug-reports' | 'attacks';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = process.env.FERMATA_TEST_CASES ?? join(ROOT, '../shared/cases');

/** Undefined where the bank is absent. */
export function readCases(bank: Bank): Case[] | undefined {
  const file = join(FOLDER, `${bank}.jsonl`);
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line, repeated) as Case);
}

/** `{"$repeat": [text, n]}` stands for a long string. */
function repeated(_key: string, value: unknown): unknown {
  const repeat = (value as { $repeat?: [string, number] } | null)?.$repeat;
  return repeat ? repeat[0].repeat(repeat[1]) : value;
}

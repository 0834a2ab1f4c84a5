/** Judges an answer: every expectation of a case by its own check, and one that has none is a failure. */
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from './answer.ts';
import type { Expectations, Json } from './case-bank.ts';
import type { HostCall } from './mock-tools.ts';

/** Lateness that a slow machine may add to a promised time, as the bank's own judge has it. */
const LATE_MS = Number(process.env.FERMATA_TEST_LATE_MS ?? 2000);
const MiB = 1024 * 1024;

export interface Evidence {
  answer: Answer;
  calls: readonly HostCall[];
  tookMs: number;
  /** Calls that reached the tools in the moment after the end. */
  callsAfterEnd: number;
  trapped: number;
  healthy: boolean;
  /** What was done to the planted secrets, in words. */
  damage: readonly string[];
  /** Command lines of the processes that came from this one, those of the hosts aside. */
  survivors: readonly string[];
  /** A port that was to stay closed was seen open. */
  portWasOpen: boolean;
  /** By how much this process has grown since the case began. */
  grownBytes: number;
  /** Calls as they were when somebody agreed to them. */
  approved: readonly HostCall[];
}

type Check = (expected: never, evidence: Evidence, all: Expectations) => boolean;

const check = <T>(test: (expected: T, evidence: Evidence, all: Expectations) => boolean): Check => test as Check;
const withoutEnd = (text: string) => text.replace(/\n+$/, '');
const lines = (text: string) => withoutEnd(text).split('\n');
const everything = ({ answer: { stdout, stderr, error, output } }: Evidence) => [stdout, stderr, error, JSON.stringify(output)].join('\n');
const completed = ({ answer }: Evidence) => answer.status === 'completed';
const count = (calls: readonly HostCall[], tool: string) => calls.filter((call) => call.tool === tool).length;

const plain = (value: unknown) => isDeepStrictEqual(JSON.parse(JSON.stringify(value)), value);

const CHECKS: Record<string, Check> = {
  status: check<string | string[]>((wanted, { answer }) => [wanted].flat().includes(answer.status)),
  limit_kind: check<string>((wanted, { answer }) => answer.status !== 'limit' || answer.limitKind === wanted),
  code: check<string | null>((wanted, { answer }) => (answer.code ?? null) === wanted),
  error_name: check<string>((wanted, { answer }) => answer.name === wanted),
  stdout: check<string>((wanted, { answer }, all) => [wanted, ...((all.stdout_alt as string[]) ?? [])].map(withoutEnd).includes(withoutEnd(answer.stdout))),
  stdout_alt: check(() => true),
  stderr: check<string>((wanted, { answer }) => withoutEnd(answer.stderr) === withoutEnd(wanted)),
  stdout_contains: check<string[]>((wanted, { answer }) => wanted.every((text) => answer.stdout.includes(text))),
  stderr_contains: check<string[]>((wanted, { answer }) => wanted.every((text) => answer.stderr.includes(text))),
  stdout_lines: check<number>((wanted, { answer }) => lines(answer.stdout).length === wanted),
  stdout_line_1_startswith: check<string>((wanted, { answer }) => lines(answer.stdout)[0]?.startsWith(wanted) === true),
  stdout_line_2: check<string>((wanted, { answer }) => lines(answer.stdout)[1] === wanted),
  stdout_only_prefix: check<string>((wanted, { answer }) => lines(answer.stdout).every((line) => line.startsWith(`${wanted} `))),
  stdout_endswith: check<string>((wanted, { answer }) => withoutEnd(answer.stdout).endsWith(wanted)),
  stdout_length_chars: check<number>((wanted, { answer }) => Math.abs([...answer.stdout].length - wanted) <= 2),
  stdout_valid_utf8: check<boolean>((wanted, { answer }) => !answer.stdout.includes('\ufffd') === wanted),
  stdout_if_completed: check<string>((wanted, evidence) => !completed(evidence) || withoutEnd(evidence.answer.stdout) === wanted),
  output: check<Json>((wanted, { answer }) => isDeepStrictEqual(answer.output, wanted)),
  output_if_completed: check<Json>((wanted, evidence) => !completed(evidence) || isDeepStrictEqual(evidence.answer.output, wanted)),
  output_not: check<string>((wanted, { answer }) => !(JSON.stringify(answer.output) ?? '').includes(wanted)),
  output_not_invented: check<boolean>((_, { answer }) => (answer.output ?? null) === null),
  output_alt: check<Json[]>((wanted, evidence) => !completed(evidence) || wanted.some((value) => isDeepStrictEqual(evidence.answer.output, value))),
  not_contains: check<string[]>((wanted, evidence) => !wanted.some((text) => everything(evidence).includes(text))),
  error_contains: check<string[]>((wanted, { answer }) => wanted.every((text) => answer.error.includes(text))),
  error_contains_if_failed: check<string[]>((wanted, evidence) => completed(evidence) || wanted.some((text) => evidence.answer.error.toLowerCase().includes(text.toLowerCase()))),
  output_or_error_contains: check<string[]>((wanted, evidence) => wanted.some((text) => everything(evidence).includes(text))),
  truncated: check<boolean>((wanted, { answer }) => answer.truncated === wanted),
  within_ms: check<number>((wanted, { tookMs }) => tookMs <= wanted + LATE_MS),
  tool_calls: check<Record<string, number>>((wanted, { calls }) => Object.entries(wanted).every(([tool, times]) => count(calls, tool) === times)),
  tool_calls_max: check<Record<string, number>>((wanted, { calls }) => Object.entries(wanted).every(([tool, times]) => count(calls, tool) <= times)),
  max_host_tool_calls: check<number>((wanted, { calls }) => calls.length <= wanted),
  tool_args_equal: check<[string, number, number]>(([tool, a, b], { calls }) => {
    const those = calls.filter((call) => call.tool === tool);
    return those[a] !== undefined && isDeepStrictEqual(those[a].args, those[b]?.args);
  }),
  tool_arg_equals_approved: check<string>((tool, { calls, approved }) => {
    const [carriedOut, agreed] = [calls, approved].map((list) => list.filter((call) => call.tool === tool).map(({ args }) => ({ ...args })));
    return isDeepStrictEqual(carriedOut, agreed);
  }),
  tool_abort_signalled: check<string[]>((wanted, { calls }) => wanted.every((tool) => count(calls, tool) > 0 && calls.every((call) => call.tool !== tool || call.signal?.aborted))),
  tool_calls_stop_at_end: check<boolean>((_, { callsAfterEnd }) => callsAfterEnd === 0),
  trap_connections: check<number>((wanted, { trapped }) => trapped === wanted),
  json_response_valid: check<boolean>((wanted, { answer: { output, stdout, stderr, error } }) => plain({ output: output ?? null, stdout, stderr, error }) === wanted),
  log_lines_not_forged: check<boolean>((wanted, { answer }) => !/[\r\n]/.test(JSON.stringify(answer)) === wanted),
  canary_intact: check<boolean>((wanted, { damage }) => (damage.length === 0) === wanted),
  no_survivors: check<boolean | string>((which, { survivors }) => !survivors.some((command) => which === true || command.includes(String(which)))),
  port_closed_from_host: check<number>((_, { portWasOpen }) => !portWasOpen),
  host_memory_growth_below_mb: check<number>((wanted, { grownBytes }) => grownBytes < wanted * MiB),
  host_prototype_clean: check<string[]>((names) => names.every((name) => !(name in {}))),
  host_healthy: check<boolean>((wanted, { healthy }) => healthy === wanted),
};

/** What is wrong with the answer, in words; nothing if all is right. */
export function judge(expected: Expectations, evidence: Evidence): string[] {
  const problems = Object.entries(expected).flatMap(([name, wanted]) => {
    const test = CHECKS[name];
    if (!test) return [`no check for the expectation ${name}`];
    return test(wanted as never, evidence, expected) ? [] : [`${name}: wanted ${shorten(wanted)}`];
  });
  if (problems.length === 0) return [];
  const { status, code, stdout, stderr, error, output, truncated } = evidence.answer;
  const calls = evidence.calls.map(({ tool, args }) => [tool, args]);
  const got = { status, code, stdout, stderr, error, output, truncated, calls: calls.length > 5 ? calls.length : calls, tookMs: Math.round(evidence.tookMs) };
  return [
    ...problems,
    `got ${Object.entries(got)
      .map(([name, value]) => `${name} ${shorten(value)}`)
      .join(', ')}`,
  ];
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 400 ? `${text.slice(0, 400)}...` : text;
}

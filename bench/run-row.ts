/** Runs one row: proves that all contenders give the same output, warms up, then takes samples in interleaved rounds. */

import { loadavg } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import type { ContenderReport, RowReport, TargetReport } from './report.ts';
import { type Case, type Contender, type Row, reasonOf } from './row.ts';
import { figureOf, geometricMean, median, rounded } from './statistics.ts';

/** Samples of one contender by case, by round; a hole where it took no part in a round. */
type Samples = Map<string, (number | undefined)[]>;

export async function runRow(row: Row, rounds: number, tell: (text: string) => void): Promise<RowReport> {
  const [at, load] = [new Date().toISOString(), loadNow()];
  const contenders = await row.open();
  try {
    const cannot = await prove(row, contenders);
    const samples = new Map<Contender, Samples>(contenders.map((contender) => [contender, new Map()]));
    const turns = contenders.flatMap((contender) => row.cases.filter(({ name }) => takesPart(contender, name, cannot)).map((each) => ({ contender, case: each })));
    for (let round = -row.warmUps; round < rounds; round++) {
      for (const { contender, case: each } of turns) {
        if (round >= (contender.rounds ?? rounds)) continue;
        const value = await sampleOf(contender, each);
        if (round < 0) continue;
        const of = samples.get(contender) as Samples;
        of.set(each.name, [...(of.get(each.name) ?? []), value]);
      }
      if (round >= 0) tell(`${row.name}: round ${round + 1} of ${rounds}`);
    }
    const reports = contenders.map((contender) => reportOf(contender, row, samples, contenders, cannot.get(contender) ?? {}));
    const { name, title, method, unit, warmUps, against } = row;
    return {
      name,
      title,
      method,
      unit,
      warmUps,
      at,
      load: [load, loadNow()],
      cases: row.cases.map((each) => each.name),
      contenders: reports,
      ...(against === undefined ? {} : { against }),
      targets: row.targets.map((target): TargetReport => {
        const report = reports.find((each) => each.name === target.of);
        const value = (target.in === 'ratio' ? report?.ratio : report?.figures[target.in]?.median) ?? null;
        const { what, atMost, aim } = target;
        const met = value !== null && value <= atMost;
        return { what, unit: target.in === 'ratio' ? 'x' : unit, atMost, ...(aim === undefined ? {} : { aim }), value, met };
      }),
    };
  } finally {
    for (const { close } of contenders) await close?.();
  }
}

/** Why contenders cannot do cases. That Fermata itself cannot do one is an error of the bench. */
async function prove(row: Row, contenders: readonly Contender[]): Promise<Map<Contender, Record<string, string>>> {
  const cannot = new Map<Contender, Record<string, string>>();
  for (const contender of contenders) {
    const reasons: Record<string, string> = {};
    cannot.set(contender, reasons);
    if (contender.absent !== undefined) continue;
    for (const each of row.cases) {
      if (contender.without?.includes(each.name)) continue;
      try {
        await sampleOf(contender, each);
      } catch (error) {
        if (contender.name.startsWith('Fermata')) throw error;
        reasons[each.name] = reasonOf(error);
      }
    }
  }
  return cannot;
}

async function sampleOf(contender: Contender, { name, expected }: Case): Promise<number> {
  const { value, output } = await contender.sample(name);
  if (!isDeepStrictEqual(output, expected)) throw new Error(`gives ${JSON.stringify(output)?.slice(0, 80)} for ${name}, not ${JSON.stringify(expected)?.slice(0, 80)}`);
  return value;
}

function takesPart(contender: Contender, name: string, cannot: Map<Contender, Record<string, string>>): boolean {
  return contender.absent === undefined && !contender.without?.includes(name) && cannot.get(contender)?.[name] === undefined;
}

function reportOf(contender: Contender, row: Row, all: Map<Contender, Samples>, contenders: Contender[], cannot: Record<string, string>): ContenderReport {
  const { name, note, absent } = contender;
  const own = all.get(contender) as Samples;
  const other = all.get(contenders.find((each) => each.name === row.against) as Contender);
  const ratios = [...own].flatMap(([each, values]) => {
    const theirs = other?.get(each);
    const pairs = values.flatMap((value, i) => (value !== undefined && theirs?.[i] !== undefined ? [value / theirs[i]] : []));
    return pairs.length > 0 ? [median(pairs)] : [];
  });
  return {
    name,
    ...(note === undefined ? {} : { note }),
    ...(absent === undefined ? {} : { absent }),
    figures: Object.fromEntries([...own].map(([each, values]) => [each, figureOf(values.filter((value) => value !== undefined))])),
    cannot,
    ...(ratios.length > 0 ? { ratio: rounded(geometricMean(ratios)) } : {}),
  };
}

function loadNow(): number {
  return rounded(loadavg()[0] ?? 0);
}

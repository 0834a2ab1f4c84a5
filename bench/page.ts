/** docs/benchmarks.md, and the tables that a run prints: made from a report, and from nothing else. */
import { REASONS } from './reasons.ts';
import type { ContenderReport, Figure, Report, RowReport, TargetReport } from './report.ts';

export function benchmarksPage(report: Report): string {
  const { surroundings: on, rows, peers } = report;
  const targets = rows.flatMap((row) => row.targets.map((target) => ({ row, target })));
  const missed = targets.filter(({ target }) => !target.met);
  return `# Benchmarks

<!-- Made by bench/page.ts from bench/results/latest.json. To measure anew: npm run bench -- --save, then npm run bench -- --docs -->

Fermata and its peers, measured on ${report.at.slice(0, 10)}, in each row together. ${targets.length - missed.length} of ${targets.length} targets are met; those that are not stand
[below](#targets-that-are-not-met), with the reason.

| | |
|---|---|
| processor | ${on.cpu}, ${on.cores} cores, ${on.memoryGiB} GiB |
| system | ${on.os}, kernel ${on.kernel} |
| node | ${on.node} |
| python3 | ${on.python ?? 'absent'} |
| first touch of a memory page | ${on.pageFaultUs} us of processor time |
| load average while it ran | ${loadOf(rows)} |

${disturbed(report)}

In every round each contender gives one sample of each case, one after the other, so that what disturbs the machine disturbs all
of them. A figure is the median of the rounds, with the 95th percentile in brackets. Ratios are medians of the ratios within a
round; over several programs, their geometric mean. Every output is compared with the expected one before it counts.

Peers: ${peers.map(({ name, version, absent }) => (absent ? `${name} (${absent})` : `${name} ${version}`)).join(', ')}.

${rows.map((row) => `## ${row.title}\n\n${row.method}\n\nRow \`${row.name}\`, measured ${row.at.slice(0, 16).replace('T', ' ')} UTC at a load of ${loadOf([row])}.\n\n${rowTable(row)}\n\n${targetLines(row)}`).join('\n\n')}

## Targets that are not met

${missed.length === 0 ? 'None.' : missed.map(({ row, target }) => missedLine(row, target)).join('\n')}

## What is not here

- Routes of the server and sandboxes other than Wasm machines are not measured. "Through the library" above is without a journal.
- That a program gives the same after random pauses is not a matter of speed; see [fidelity.md](fidelity.md).

To run it: \`npm run bench\`, or \`npm run bench -- --only tool-call --rounds 5\`. The peers are installed into \`bench/\` at first use.
A new row is a file in \`bench/rows/\` and a line in \`bench/rows.ts\`.
`;
}

/** One line per contender, one column per case. */
export function rowTable(row: RowReport): string {
  const ratios = row.contenders.some(({ ratio }) => ratio !== undefined);
  const head = ['', ...row.cases.map((name) => `${code(name)}, ${row.unit === 'us' ? 'us' : row.unit}`), ...(ratios ? [`x ${row.against}`] : [])];
  const lines = row.contenders.map((contender) => [
    contender.note ? `${contender.name} (${contender.note})` : contender.name,
    ...row.cases.map((name) => cell(contender, name)),
    ...(ratios ? [contender.ratio === undefined ? '' : String(Number(contender.ratio.toPrecision(3)))] : []),
  ]);
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cell(contender: ContenderReport, name: string): string {
  if (contender.absent !== undefined) return `absent: ${contender.absent}`;
  const figure = contender.figures[name];
  if (!figure) return contender.cannot[name] === undefined ? '' : `cannot: ${contender.cannot[name]}`;
  return figureText(figure);
}

function figureText({ median, p95, rounds }: Figure): string {
  return rounds > 1 ? `${amount(median)} (${amount(p95)})` : amount(median);
}

function amount(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function targetLines(row: RowReport): string {
  return row.targets
    .map(
      (target) =>
        `- ${target.what}: ${asked(target)}; ${target.value === null ? 'not measured' : `${amount(target.value)} ${target.unit}`}, ${target.met ? 'met' : '**not met**'}.`,
    )
    .join('\n');
}

function asked({ atMost, aim, unit }: TargetReport): string {
  return `target at most ${atMost} ${unit}${aim === undefined ? '' : ` (aim ${aim})`}`;
}

function missedLine(row: RowReport, target: TargetReport): string {
  const value = target.value === null ? 'not measured' : `${amount(target.value)} ${target.unit}`;
  return `- **${row.title}**, ${target.what}: ${value}, ${asked(target)}. ${REASONS[row.name]?.[target.what] ?? REASONS[row.name]?.['*'] ?? 'The reason is not known yet.'}`;
}

function loadOf(rows: readonly RowReport[]): string {
  const loads = rows.flatMap(({ load }) => load);
  return loads.length === 0 ? 'unknown' : `${amount(Math.min(...loads))} to ${amount(Math.max(...loads))}`;
}

/** Says it where the machine was not quiet, or is not like others: wall times are then no measure of Fermata. */
function disturbed({ surroundings: { cores, pageFaultUs }, rows }: Report): string {
  const load = Math.max(0, ...rows.map(({ load: [before] }) => before));
  const remarks = [
    ...(load > cores
      ? [
          `The machine was shared: up to ${amount(load)} processes wanted its ${cores} cores. Wall times are therefore too high, for all contenders; ratios and processor times are less affected.`,
        ]
      : []),
    ...(pageFaultUs > 2
      ? [
          `This machine needs ${amount(pageFaultUs)} us to touch a page of memory for the first time, where one that is not virtual needs about 0.2. Whatever makes new machines or new processes is slower here for that.`,
        ]
      : []),
  ];
  return remarks.length === 0 ? 'The machine was quiet.' : remarks.join('\n');
}

function code(name: string): string {
  return /\W/.test(name) ? `\`${name}\`` : name;
}

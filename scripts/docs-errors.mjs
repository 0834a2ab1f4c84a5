/**
 * Writes docs/errors.md from the tables that the code uses: error codes and limits. Needs the built packages; a test
 * asserts that the file is up to date. `npm run docs:errors`, or `node scripts/docs-errors.mjs`.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DEFAULT_LIMITS, ERROR_CODES, LIMIT_BOUNDS, LIMITS, UNBOUNDED } from '@fermata/protocol';

export const ERRORS_PAGE = fileURLToPath(new URL('../docs/errors.md', import.meta.url));

const CLASSES = {
  guest: 'The fault is in the program. It comes as `result.error` of a task whose status is `failed`; give the message and the traceback to whoever writes the program.',
  limit: 'The program met one of the limits below. It comes as `result.error`, like the ones above, and `error.hint` names the limit to raise.',
  request: "The fault is the caller's. The library throws a `FermataError` with this `code`; the command line says it on stderr and exits with 2.",
  system:
    'The fault is ours, or that of the machine we run on. If a task had begun it has status `failed` with this code, and its last snapshot can be restored; else a `FermataError` is thrown, and the command line exits with 3.',
};

const EXAMPLES = { timeout: '30s', cpu: '10s', memory: '256 (MiB)', disk: '64 (MiB)', output: '1048576', tool_calls: '1000', calls_at_once: '16', journal: '256 (MiB)' };

export function errorsPage() {
  return `# Limits and errors

<!-- Made by scripts/docs-errors.mjs from packages/protocol. Change those, then run: npm run docs:errors -->

Every error has a stable \`code\`, a \`message\`, and often a \`hint\` that says what to do about it. An error of a program also
has its \`name\` there (such as \`ValueError\`), the \`traceback\`, and \`line\` and \`column\` of the program, counted from 1, where
they are known.

What a program does is never thrown at its caller: it is \`result.error\` of a task that failed. Only a caller's own mistakes,
and ours, are thrown.

## Codes

${Object.entries(CLASSES).map(codesOf).join('\n\n')}

Of these:

- \`outcome_unknown\` is a kind of wait and is never thrown: the call is in \`waitingFor\` with that kind, and the task waits for a
  decision; see [embedding.md](embedding.md).
- \`invalid_arguments\` is the code of a task that failed because one of its calls was refused for its arguments and the program did
  not catch that.
- \`invalid_state\` is thrown, for instance, when a snapshot is asked of a task that has ended.

## Limits

Each limit has a default, and is set for one task (\`limits\` of \`run\` and \`start\`, or the option of \`fermata run\`) or for all of
them (\`limits\` of \`createFermata\`). A value below the least one, or above the most, is refused as \`invalid_request\`.

| limit | what it counts | default | least | most | command line | code |
|---|---|---|---|---|---|---|
${Object.entries(LIMITS)
  .map(([kind, words]) => limitRow(kind, words, DEFAULT_LIMITS[words.option]))
  .join('\n')}

Limits travel with a snapshot: a restored or forked task has the same ones, and what it has spent so far counts.

What a program sees of them:

- Time, processor time, output, calls and the journal end it at once. No code of the program runs any more, not even \`finally\`.
- At the limit of memory an allocation fails as it does on a full computer: \`MemoryError\` in Python, \`InternalError: out of
  memory\` in JavaScript. At the limit of files a write fails with \`OSError: [Errno 51] No space left on device\` in Python, and
  an \`Error\` whose \`code\` is \`ENOSPC\` in JavaScript. A program may catch these and go on. If it does not, the task fails with the
  limit's code.
- Calls over \`maxCallsAtOnce\` are begun in their order, as soon as others have been answered; and none is begun while answers of
  more than 32 MiB wait for the program to take them. Neither is an error.
- Output up to the limit is kept, cut at the end of a character, and \`result.truncated\` is true.
`;
}

function codesOf([name, text]) {
  const rows = Object.entries(ERROR_CODES).filter(([, code]) => code.class === name);
  return `### Class \`${name}\`

${text}

| code | meaning |
|---|---|
${rows.map(([code, { text: meaning }]) => `| \`${code}\` | ${meaning} |`).join('\n')}`;
}

function limitRow(kind, { option: name, counts, flag, code }, value) {
  const { least, most } = LIMIT_BOUNDS[name];
  return `| \`${name}\` | ${counts} | ${amount(name, value)} | ${amount(name, least)} | ${most === UNBOUNDED ? '' : amount(name, most)} | \`${flag} ${EXAMPLES[kind]}\` | ${code === null ? 'none' : `\`${code}\``} |`;
}

const MiB = 1024 * 1024;

function amount(name, value) {
  if (name.endsWith('Ms')) return value >= 1000 ? `${value / 1000} s` : `${value} ms`;
  if (name.endsWith('Bytes')) return value === 0 ? '0' : `${value / MiB} MiB`;
  return String(value);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(ERRORS_PAGE, errorsPage());

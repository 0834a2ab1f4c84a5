/** What a model is told of the one tool that takes the place of many: how to write a program, and what it can call. */
import type { Language } from '@fermata/protocol';
import type { Tool } from '@fermata/tools';
import { pythonStubs, typescriptStubs } from '@fermata/tools/stubs';

export const LANGUAGES: readonly Language[] = ['javascript', 'typescript', 'python'];

export interface CodeDescriptionOptions {
  languages: readonly Language[];
  /** Characters of declarations above which the model is told the names alone, and looks up the rest. */
  maxStubsChars: number;
  maxObservationChars: number;
}

const HOW = {
  javascript:
    'JavaScript or TypeScript: the body of an async function. `const a = await tools.name({ key: value })`, `await Promise.all([...])` for calls side by side, `return` the result.',
  python:
    'Python: `a = await tools.name(key=value)`, `await asyncio.gather(tools.one(...), tools.two(...))` for calls side by side; the value of the last expression is the result.',
};

/** Whether the declarations of these tools are more than the model is to read; a program then finds them by `tools.search`. */
function areTooMany(tools: readonly Tool[], { languages, maxStubsChars }: CodeDescriptionOptions): boolean {
  return stubsOf(tools, languages).length > maxStubsChars;
}

export function codeDescription(tools: readonly Tool[], options: CodeDescriptionOptions): string {
  const { languages, maxObservationChars } = options;
  const ways = [...(languages.some((language) => language !== 'python') ? [HOW.javascript] : []), ...(languages.includes('python') ? [HOW.python] : [])];
  const told = areTooMany(tools, options)
    ? [
        `There are ${tools.length} tools: ${namesOf(tools)}.`,
        'Look them up in a program first: `tools.search({ query })` finds by words, `tools.describe({ name })` tells what one takes and returns. In Python the same with keyword arguments.',
      ]
    : [
        `The tools that a program can call${languages.length > 1 && languages.includes('python') ? ', in Python by the same names and with keyword arguments' : ''}:`,
        stubsOf(tools, languages),
      ];
  return [
    'Runs a program that calls tools, and gives back its result. Do the whole of a request in one program: fetch, compute, decide and act in it, and start calls that do not need each other together.',
    ...ways,
    `A tool that fails throws an exception. Nothing else can be reached: no network, no packages beyond the standard library. Return only what the answer needs, as ${maxObservationChars} characters at most are shown. What goes wrong is told with its line: mend the program then, and do not repeat calls that are listed as done.`,
    ...told,
  ].join('\n\n');
}

function stubsOf(tools: readonly Tool[], languages: readonly Language[]): string {
  return languages.some((language) => language !== 'python') ? `\`\`\`typescript\n${typescriptStubs(tools)}\`\`\`` : `\`\`\`python\n${pythonStubs(tools)}\`\`\``;
}

function namesOf(tools: readonly Tool[]): string {
  const names = tools.map(({ name }) => name);
  return names.length > 200 ? `${names.slice(0, 200).join(', ')} and ${names.length - 200} more` : names.join(', ');
}

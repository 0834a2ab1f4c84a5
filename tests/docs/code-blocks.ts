/**
 * Code blocks of a Markdown file, as the tests run them.
 *
 *     ```sh run      a shell script; a `text` block that follows is what it must print, on stdout and stderr together
 *     ```js run      a module, likewise
 *     ```ts run      a module in TypeScript, likewise; it also compiles in a strict project
 *     ```js file=x   a file that the blocks after it find beside them
 *
 * In an expected text `…` stands for anything within a line.
 */
export interface RunnableBlock {
  language: 'sh' | 'js' | 'ts';
  line: number;
  code: string;
  expected: string | undefined;
}

export interface FileBlock {
  file: string;
  line: number;
  code: string;
}

export type DocBlock = RunnableBlock | FileBlock;

export function codeBlocks(markdown: string): DocBlock[] {
  const found = [...markdown.matchAll(/^```(\S+)(?: (.*))?\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] as string,
    info: match[2] ?? '',
    code: match[3] as string,
    line: markdown.slice(0, match.index).split('\n').length,
  }));
  return found.flatMap(({ language, info, code, line }, i): DocBlock[] => {
    if (info.startsWith('file=')) return [{ file: info.slice('file='.length), line, code }];
    if (info !== 'run' || (language !== 'sh' && language !== 'js' && language !== 'ts')) return [];
    const next = found[i + 1];
    return [{ language, line, code, expected: next?.language === 'text' ? next.code : undefined }];
  });
}

/** Whether a text is as expected, `…` aside. */
export function matches(actual: string, expected: string): boolean {
  const pattern = expected
    .trim()
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^\\n]*');
  return new RegExp(`^${pattern}$`).test(actual.trim());
}

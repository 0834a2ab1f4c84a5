/** The tools that a command is given. Only who gives a file loads what it takes to read one. */
import type { ToolsFile } from './load-tools-file.ts';

/** What it has; nothing where there is none. Throws `invalid_request` with its name, what is wrong with it, and the line where that is known. */
export async function readToolsFile(file: string | undefined): Promise<ToolsFile> {
  if (file === undefined) return { tools: [], sources: {}, policy: [] };
  const { loadToolsFile } = await import('./load-tools-file.ts');
  return loadToolsFile(file);
}

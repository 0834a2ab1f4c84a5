/** A program's source as its machine takes it: JavaScript for TypeScript, everything else as it is. */
import { type SourceMapping, stripTypes } from '@fermata/machine';
import type { Program } from '@fermata/protocol';

export interface PreparedSource {
  code: string;
  /** The user's own line and column for one of the prepared code. */
  original(line: number, column: number): { line: number; column: number };
}

/** Throws a `FermataError` of code `syntax_error` where types cannot be taken away. */
export function prepareSource({ language, code }: Program): PreparedSource {
  const stripped: { code: string; original?: SourceMapping } = language === 'typescript' ? stripTypes(code) : { code };
  return { code: stripped.code, original: stripped.original ?? ((line, column) => ({ line, column })) };
}

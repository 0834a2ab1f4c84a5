/** Names that a source gives to its tools, as names that both languages take. */
import { FermataError } from '@fermata/protocol';

/** Words that cannot stand after a dot in Python, and what JavaScript asks every object for. */
const TAKEN = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield then toJSON constructor prototype'.split(
    ' ',
  ),
);

/** An identifier: what cannot stand in one becomes `_`. */
export function safeName(original: string): string {
  const plain = original.normalize('NFKC').replace(/[^A-Za-z0-9_]/g, '_') || '_';
  const name = /^\d|^__/.test(plain) ? `n${plain.startsWith('_') ? '' : '_'}${plain}` : plain;
  return TAKEN.has(name) ? `${name}_` : name;
}

/** The safe name of each, in their order; throws `invalid_request` where two become the same. `of`: what has these names. */
export function safeNames(originals: readonly string[], of: string, nameOf: (original: string) => string = safeName): string[] {
  const owners = new Map<string, string>();
  return originals.map((original) => {
    const name = nameOf(original);
    const other = owners.get(name);
    if (other !== undefined) {
      const both =
        other === original ? `has two tools named ${JSON.stringify(original)}` : `has ${JSON.stringify(other)} and ${JSON.stringify(original)}, which both become ${name}`;
      throw new FermataError('invalid_request', `${of} ${both}`, { hint: 'Have the source rename one of them.' });
    }
    owners.set(name, original);
    return name;
  });
}

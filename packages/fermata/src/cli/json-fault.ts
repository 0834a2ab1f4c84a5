/** Where a text stops being JSON. `JSON.parse` says that something is wrong, and only sometimes where. */

export interface JsonFault {
  line: number;
  column: number;
  /** What stands there. */
  found: string;
}

const TOKEN = /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w"]))/uy;

/** The first token that cannot stand where it does; undefined of a text that is JSON. */
export function jsonFault(text: string): JsonFault | undefined {
  let at = 0;
  const take = (wanted: RegExp): string | undefined => {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    const token = match?.[1] ?? match?.[2];
    if (token === undefined || !wanted.test(token)) return undefined;
    at = TOKEN.lastIndex;
    return token;
  };
  const list = (end: RegExp, item: () => boolean): boolean => {
    if (take(end)) return true;
    do if (!item()) return false;
    while (take(/^,$/));
    return take(end) !== undefined;
  };
  const value = (): boolean => {
    const token = take(/^[^}\],:]/);
    if (token === '[') return list(/^\]$/, value);
    if (token === '{') return list(/^\}$/, () => take(/^"/) !== undefined && take(/^:$/) !== undefined && value());
    return token !== undefined;
  };
  const fine = value();
  at += /^[ \t\n\r]*/.exec(text.slice(at))?.[0].length ?? 0;
  return fine && at === text.length ? undefined : placeOf(text, at);
}

function placeOf(text: string, at: number): JsonFault {
  const before = text.slice(0, at).split('\n');
  const found = /^(\p{L}[\p{L}\p{N}]*|.)/u.exec(text.slice(at))?.[0];
  return { line: before.length, column: (before.at(-1) as string).length + 1, found: found === undefined ? 'end' : found === '"' ? `'"'` : JSON.stringify(found) };
}

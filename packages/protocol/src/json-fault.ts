/** Where a text stops being JSON. `JSON.parse` says that something is wrong, and only sometimes where. */

export interface JsonFault {
  line: number;
  column: number;
  /** What stands there. */
  found: string;
}

const TOKEN = /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w"]))/uy;

const END = { '[': /^\]$/, '{': /^\}$/ };

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
  /** What is open, from the outside in. */
  const open: ('[' | '{')[] = [];
  const read = (): boolean => {
    for (;;) {
      if (open.at(-1) === '{' && !(take(/^"/) && take(/^:$/))) return false;
      const token = take(/^[^}\],:]/);
      if (token === undefined) return false;
      if ((token === '[' || token === '{') && !take(END[token])) {
        open.push(token);
        continue;
      }
      for (let inner = open.at(-1); inner && take(END[inner]); inner = open.at(-1)) open.pop();
      if (open.length === 0) return true;
      if (!take(/^,$/)) return false;
    }
  };
  const fine = read();
  at += /^[ \t\n\r]*/.exec(text.slice(at))?.[0].length ?? 0;
  return fine && at === text.length ? undefined : placeOf(text, at);
}

function placeOf(text: string, at: number): JsonFault {
  const before = text.slice(0, at).split('\n');
  const found = /^(\p{L}[\p{L}\p{N}]*|.)/u.exec(text.slice(at))?.[0];
  return { line: before.length, column: (before.at(-1) as string).length + 1, found: found === undefined ? 'end' : found === '"' ? `'"'` : JSON.stringify(found) };
}

/**
 * Which of many tools a program is told of. To learn of a thousand names takes a program longer than to start, so one whose text
 * shows which tools it means is told of these only.
 *
 * Where the text does not show it - `tools[name]`, `tools` handed on, a name that is no tool, code that is made as it runs - the
 * program is told of all, as if this were not here.
 */
import type { ToolName } from '@fermata/protocol';

/** So few cost nothing. */
const FEW = 50;
/** By these a program reaches names that its text does not show. */
const OPAQUE =
  /(?<![\w$])(?:eval|exec|compile|Function|constructor|Reflect|globalThis|globals|locals|vars|getattr|attrgetter|__dict__|__getattr__|__import__|importlib|runpy|inspect|modules|pickle)(?![\w$])/;
const IMPORTED = /^[ \t]*from[ \t]+fermata[ \t]+import[ \t]+(?!.*\bas\b)\w+(?:[ \t]*,[ \t]*\w+)*[ \t]*$/gm;
const TOOLS = /(?<![\w$])tools(?![\w$])/g;
const CHAIN = /(?:\s*\??\.\s*[A-Za-z_$][\w$]*)+(?![\w$]|\P{ASCII})/uy;

/** What a path of names leads to: the tool of exactly this name, and all below it. */
interface Place {
  here: boolean;
  below: ToolName[];
}
const indexes = new WeakMap<readonly ToolName[], Map<string, Place>>();

/** Those that the code means, in their order, or all of `names` where that cannot be told. */
export function toolsInCode(code: string, names: readonly ToolName[]): readonly ToolName[] {
  if (names.length <= FEW || OPAQUE.test(code)) return names;
  const text = code.replace(IMPORTED, '');
  const index = indexOf(names);
  const meant = new Set<ToolName>();
  for (const { index: start } of text.matchAll(TOOLS)) {
    CHAIN.lastIndex = start + 'tools'.length;
    const [chain] = CHAIN.exec(text) ?? [];
    const found = chain === undefined ? undefined : placeOf(chain.split('.').slice(1), index);
    if (!found) return names;
    for (const name of found) meant.add(name);
  }
  return names.filter((name) => meant.has(name));
}

function placeOf(parts: readonly string[], index: Map<string, Place>): readonly ToolName[] | undefined {
  let path = '';
  let last: Place | undefined;
  for (const part of parts) {
    path += `${path ? '.' : ''}${part.replace(/[\s?]/g, '')}`;
    const place = index.get(path);
    // What follows the name of a tool is of the tool, or of nothing.
    if (!place) return last?.here ? last.below : undefined;
    last = place;
  }
  return last?.below;
}

function indexOf(names: readonly ToolName[]): Map<string, Place> {
  const known = indexes.get(names);
  if (known) return known;
  const index = new Map<string, Place>();
  for (const name of names) {
    // Programs may write a name that is no identifier with underscores.
    const parts = name.name.split('.').map((part) => part.replace(/[^A-Za-z0-9_$]/g, '_'));
    for (let length = 1; length <= parts.length; length++) {
      const path = parts.slice(0, length).join('.');
      const place = index.get(path) ?? { here: false, below: [] };
      place.below.push(name);
      place.here ||= length === parts.length;
      index.set(path, place);
    }
  }
  indexes.set(names, index);
  return index;
}

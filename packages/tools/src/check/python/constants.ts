/** Values that stand in the text of a Python program, as far as a tool is given them unchanged. */
import type { Constant } from '../facts.ts';
import type { SyntaxNode } from '../grammars.ts';

export interface Folding {
  text: string;
  /** What a name stands for everywhere: the right side of its only assignment. */
  valueOf: (name: string) => SyntaxNode | undefined;
}

const MOST_STEPS = 200;

export function foldPython(node: SyntaxNode | undefined, folding: Folding): Constant {
  let steps = 0;
  const fold = (at: SyntaxNode | undefined): Constant => {
    if (!at || ++steps > MOST_STEPS) return undefined;
    const source = folding.text.slice(at.start, at.end);
    switch (at.type) {
      case 'true':
        return { value: true };
      case 'false':
        return { value: false };
      case 'none':
        return { value: null };
      case 'integer':
      case 'float':
        return numberOf(source);
      case 'string':
        return stringOf(at, folding.text);
      case 'concatenated_string':
      case 'parenthesized_expression':
        return joined(at.children.filter(({ type }) => type !== '(' && type !== ')' && type !== 'comment').map(fold), at.type === 'concatenated_string');
      case 'unary_operator': {
        const value = fold(field(at, 'argument'))?.value;
        return source.startsWith('-') && typeof value === 'number' ? { value: -value } : undefined;
      }
      case 'binary_operator': {
        const [left, right] = [fold(field(at, 'left')), fold(field(at, 'right'))];
        const plus = at.children.some(({ type }) => type === '+');
        return plus && typeof left?.value === 'string' && typeof right?.value === 'string' ? { value: left.value + right.value } : undefined;
      }
      case 'list': {
        const items = at.children.filter(isItem).map(fold);
        return items.every((item) => item !== undefined) ? { value: items.map((item) => item?.value) } : undefined;
      }
      case 'dictionary':
        return recordOf(at.children.filter(isItem), fold);
      case 'call':
        return joinedByMethod(at, fold, folding.text);
      case 'identifier': {
        // A list or a record may have been changed since.
        const value = fold(folding.valueOf(source));
        return typeof value?.value === 'object' && value.value !== null ? undefined : value;
      }
      default:
        return undefined;
    }
  };
  return fold(node);
}

export function field(node: SyntaxNode, name: string): SyntaxNode | undefined {
  return node.children.find((child) => child.field === name);
}

/** Neither punctuation nor a comment. */
export function isItem({ type }: SyntaxNode): boolean {
  return /^[a-z]/i.test(type) && type !== 'comment';
}

function joined(parts: Constant[], concatenated: boolean): Constant {
  if (!concatenated) return parts.length === 1 ? parts[0] : undefined;
  return parts.every((part) => typeof part?.value === 'string') ? { value: parts.map((part) => part?.value).join('') } : undefined;
}

/** Only numbers that JavaScript has, too. */
function numberOf(source: string): Constant {
  const plain = source.replaceAll('_', '').toLowerCase();
  if (!/^(0x[0-9a-f]+|0o[0-7]+|0b[01]+|\d+(\.\d*)?(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?)$/.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) && (!/^\d+$|^0[xob]/.test(plain) || Number.isSafeInteger(value)) ? { value } : undefined;
}

function stringOf(node: SyntaxNode, text: string): Constant {
  const [first] = node.children;
  const opening = first?.type === 'string_start' ? text.slice(first.start, first.end).toLowerCase() : undefined;
  if (opening === undefined || opening.includes('b') || node.children.some(({ type }) => type === 'interpolation')) return undefined;
  const last = node.children.at(-1);
  if (last?.type !== 'string_end') return undefined;
  let content = text.slice((first as SyntaxNode).end, last.start);
  if (/[ft]/.test(opening)) content = content.replaceAll('{{', '{').replaceAll('}}', '}');
  if (opening.includes('t')) return undefined;
  return opening.includes('r') || !content.includes('\\') ? { value: content } : unescaped(content);
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v', '\\': '\\', "'": "'", '"': '"', '\n': '' };

function unescaped(content: string): Constant {
  if (/\\N/.test(content)) return undefined;
  let whole = true;
  const value = content.replace(/\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-7]{1,3}|[\s\S])/g, (all, code: string) => {
    if (/^[xuU]./.test(code)) {
      const point = Number.parseInt(code.slice(1), 16);
      if (point > 0x10ffff) whole = false;
      return point > 0x10ffff ? '' : String.fromCodePoint(point);
    }
    if (/^[0-7]/.test(code)) return String.fromCodePoint(Number.parseInt(code, 8));
    return ESCAPES[code] ?? all;
  });
  return whole ? { value } : undefined;
}

function recordOf(items: SyntaxNode[], fold: (node: SyntaxNode | undefined) => Constant): Constant {
  const record: Record<string, unknown> = Object.create(null);
  for (const item of items) {
    const key = item.type === 'pair' ? fold(field(item, 'key')) : undefined;
    const value = item.type === 'pair' ? fold(field(item, 'value')) : undefined;
    if (typeof key?.value !== 'string' || !value) return undefined;
    record[key.value] = value.value;
  }
  return { value: { ...record } };
}

/** `''.join(['a', 'b'])`, the usual way to hide a name. */
function joinedByMethod(node: SyntaxNode, fold: (node: SyntaxNode | undefined) => Constant, text: string): Constant {
  const [callee, given] = [field(node, 'function'), field(node, 'arguments')];
  const name = callee && field(callee, 'attribute');
  if (callee?.type !== 'attribute' || !name || text.slice(name.start, name.end) !== 'join') return undefined;
  const [separator, parts] = [fold(field(callee, 'object')), fold(given?.children.filter(isItem)[0])];
  if (typeof separator?.value !== 'string' || !Array.isArray(parts?.value) || !parts.value.every((part) => typeof part === 'string')) return undefined;
  return { value: parts.value.join(separator.value) };
}

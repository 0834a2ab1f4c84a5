/** What an expression of a Python program means, as a dotted name: through imports, aliases, `getattr` and `globals()`. */
import type { SyntaxNode } from '../grammars.ts';
import type { Bindings } from './bindings.ts';
import { field, foldPython, isItem } from './constants.ts';

export type Resolve = (node: SyntaxNode | undefined) => string | undefined;

/** Objects whose items are what a name of theirs means. */
const NAMESPACES = new Set(['globals()', 'locals()', 'vars()', '__builtins__', 'builtins.__dict__', '__builtins__.__dict__', 'vars(builtins)', 'vars(__builtins__)']);
const DEEPEST = 50;

/** `builtins.eval` and `eval` are both `eval`; a name that the program itself gives a meaning is undefined. */
export function resolver(text: string, bindings: Bindings): Resolve {
  const nameOf = (node: SyntaxNode) => text.slice(node.start, node.end).normalize('NFKC');
  const folding = { text, valueOf: (name: string) => bindings.values.get(name) };
  const constant = (node: SyntaxNode | undefined) => {
    const value = foldPython(node, folding)?.value;
    return typeof value === 'string' ? value : undefined;
  };
  const argumentsOf = (call: SyntaxNode) => field(call, 'arguments')?.children.filter(isItem) ?? [];

  const resolve = (node: SyntaxNode | undefined, depth: number): string | undefined => {
    if (!node || depth > DEEPEST) return undefined;
    const inner = (child: SyntaxNode | undefined) => resolve(child, depth + 1);
    switch (node.type) {
      case 'identifier': {
        const name = nameOf(node);
        const imported = bindings.imported.get(name);
        if (imported !== undefined) return imported === 'fermata.tools' ? 'tools' : imported;
        if (!bindings.count.has(name)) return name;
        return inner(bindings.values.get(name));
      }
      case 'parenthesized_expression':
        return inner(node.children.find(isItem));
      case 'attribute':
        return member(inner(field(node, 'object')), field(node, 'attribute') && nameOf(field(node, 'attribute') as SyntaxNode));
      case 'subscript': {
        const [value, key] = [inner(field(node, 'value')), constant(field(node, 'subscript'))];
        if (value === undefined || key === undefined) return undefined;
        if (value === 'tools' || value.startsWith('tools.')) return `${value}.${key}`;
        return NAMESPACES.has(value) ? key : value === 'sys.modules' ? key : undefined;
      }
      case 'call': {
        const callee = inner(field(node, 'function'));
        const [first, second] = argumentsOf(node);
        if (callee === '__import__') return constant(first)?.split('.')[0];
        if (callee === 'importlib.import_module' || callee === 'importlib.__import__') return constant(first);
        if (callee === 'getattr') return member(inner(first), constant(second));
        if (callee === 'globals' || callee === 'locals') return `${callee}()`;
        if (callee === 'vars') return first ? `vars(${inner(first)})` : 'vars()';
        return undefined;
      }
      default:
        return undefined;
    }
  };
  return (node) => resolve(node, 0);
}

function member(object: string | undefined, name: string | undefined): string | undefined {
  if (object === undefined || name === undefined) return undefined;
  if (object === 'builtins' || object === '__builtins__') return name === '__dict__' ? `${object}.${name}` : name;
  return object === 'fermata' && name === 'tools' ? 'tools' : `${object}.${name}`;
}

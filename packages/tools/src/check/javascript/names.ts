/** What an expression of a JavaScript program means, as a dotted name: through aliases, destructuring and brackets. */
import { type Bindings, moduleName } from './bindings.ts';
import { foldJavaScript, keyOf } from './constants.ts';
import type { JsNode } from './syntax.ts';

export type Resolve = (node: JsNode | null | undefined) => string | undefined;

const GLOBAL_OBJECTS = new Set(['globalThis', 'window', 'self', 'global']);
const DEEPEST = 50;

/** What comes out of a module begins with `import:` and its name. */
export function resolver({ count, values, parts, imported }: Bindings): Resolve {
  const fold = (node: JsNode) => foldJavaScript(node, (name) => values.get(name));
  const textOf = (node: JsNode | undefined) => {
    const value = node && fold(node)?.value;
    return typeof value === 'string' ? value : undefined;
  };
  const resolve = (node: JsNode | null | undefined, depth: number): string | undefined => {
    if (!node || depth > DEEPEST) return undefined;
    const inner = (child: JsNode | null | undefined) => resolve(child, depth + 1);
    switch (node.type) {
      case 'Identifier': {
        const { name } = node;
        if (imported.has(name)) return imported.get(name);
        if (!count.has(name)) return name;
        const part = parts.get(name);
        return part ? member(inner(part.of), part.name) : inner(values.get(name));
      }
      case 'MemberExpression':
        return node.property.type === 'PrivateIdentifier' ? undefined : member(inner(node.object), keyOf(node, 'property', fold));
      case 'ChainExpression':
        return inner(node.expression);
      case 'SequenceExpression':
        return inner(node.expressions.at(-1));
      case 'AwaitExpression':
        return node.argument.type === 'ImportExpression' ? inner(node.argument) : undefined;
      case 'ImportExpression': {
        const module = textOf(node.source);
        return module === undefined ? undefined : `import:${moduleName(module)}`;
      }
      case 'CallExpression': {
        const callee = inner(node.callee);
        const [first, second] = node.arguments as JsNode[];
        if (callee === 'Reflect.get') return member(inner(first), textOf(second));
        if (callee !== 'require') return undefined;
        const module = textOf(first);
        return module === undefined ? undefined : `import:${moduleName(module)}`;
      }
      default:
        return undefined;
    }
  };
  return (node) => resolve(node, 0);
}

function member(object: string | undefined, name: string | undefined): string | undefined {
  if (object === undefined || name === undefined) return undefined;
  if (GLOBAL_OBJECTS.has(object)) return name;
  return object.startsWith('import:') && name === 'default' ? object : `${object}.${name}`;
}

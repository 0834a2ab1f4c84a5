/** Values that stand in the text of a JavaScript program. */
import type { Constant } from '../facts.ts';
import type { JsNode } from './syntax.ts';

const MOST_STEPS = 200;

/** `boundTo`: what a name stands for everywhere, the value that it is given once. */
export function foldJavaScript(node: JsNode | undefined, boundTo: (name: string) => JsNode | undefined): Constant {
  let steps = 0;
  const fold = (at: JsNode | null | undefined): Constant => {
    if (!at || ++steps > MOST_STEPS) return undefined;
    switch (at.type) {
      case 'Literal':
        return at.regex || at.bigint ? undefined : { value: at.value };
      case 'TemplateLiteral':
        return textOf(at, fold);
      case 'UnaryExpression': {
        const value = fold(at.argument)?.value;
        return at.operator === '-' && typeof value === 'number' && value !== 0 ? { value: -value } : undefined;
      }
      case 'BinaryExpression': {
        const [left, right] = [fold(at.left), fold(at.right)];
        return at.operator === '+' && typeof left?.value === 'string' && typeof right?.value === 'string' ? { value: left.value + right.value } : undefined;
      }
      case 'ArrayExpression': {
        const items = (at.elements as (JsNode | null)[]).map(fold);
        return items.every((item) => item !== undefined) ? { value: items.map((item) => item?.value) } : undefined;
      }
      case 'ObjectExpression':
        return recordOf(at.properties, fold);
      case 'CallExpression':
        return joined(at, fold);
      case 'Identifier': {
        // A list or a record may have been changed since.
        const value = fold(boundTo(at.name));
        return typeof value?.value === 'object' && value.value !== null ? undefined : value;
      }
      default:
        return undefined;
    }
  };
  return fold(node);
}

/** The key of a property, or the name behind a dot or in brackets. */
export function keyOf(node: JsNode, part: 'key' | 'property', fold: (node: JsNode) => Constant): string | undefined {
  const key = node[part] as JsNode;
  if (!node.computed && key.type === 'Identifier') return key.name;
  const value = fold(key)?.value;
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
}

function textOf(node: JsNode, fold: (node: JsNode) => Constant): Constant {
  const parts = (node.expressions as JsNode[]).map(fold);
  if (!parts.every((part) => typeof part?.value === 'string')) return undefined;
  return { value: (node.quasis as JsNode[]).map((quasi, i) => quasi.value.cooked + (parts[i]?.value ?? '')).join('') };
}

function recordOf(properties: JsNode[], fold: (node: JsNode) => Constant): Constant {
  const record = new Map<string, unknown>();
  for (const property of properties) {
    const key = property.type === 'Property' && property.kind === 'init' ? keyOf(property, 'key', fold) : undefined;
    const value = key === undefined ? undefined : fold(property.value);
    if (key === undefined || key === '__proto__' || !value) return undefined;
    record.set(key, value.value);
  }
  return { value: Object.fromEntries(record) };
}

/** `['a', 'b'].join('')`, the usual way to hide a name. */
function joined({ callee, arguments: given }: JsNode, fold: (node: JsNode) => Constant): Constant {
  if (callee.type !== 'MemberExpression' || keyOf(callee, 'property', fold) !== 'join') return undefined;
  const [parts, separator] = [fold(callee.object)?.value, given[0] ? fold(given[0])?.value : ','];
  return Array.isArray(parts) && parts.every((part) => typeof part === 'string') && typeof separator === 'string' ? { value: parts.join(separator) } : undefined;
}

/** A JavaScript program as its syntax tree: the body of an async function, with modules where they must not be. */
import { createRequire } from 'node:module';
import type { Node } from 'acorn';

/** A node as the rules look at it: whatever its type has. */
export interface JsNode extends Node {
  // biome-ignore lint/suspicious/noExplicitAny: each type of node has parts of its own
  [part: string]: any;
}

export interface ParsedJavaScript {
  root: JsNode;
  nodes: JsNode[];
  parentOf: (node: JsNode) => JsNode | undefined;
}

const require = createRequire(import.meta.url);

/** Nodes above each other; looking from each to the top would take for ever. */
const DEEPEST = 1_000;

/** Throws what `acorn` throws, a SyntaxError with `pos`; a RangeError where the text is nested too deeply. */
export function parseJavaScript(text: string): ParsedJavaScript {
  const { parse } = require('acorn') as typeof import('acorn');
  const root = parse(text, {
    ...{ ecmaVersion: 'latest', sourceType: 'script', allowHashBang: true },
    ...{ allowAwaitOutsideFunction: true, allowReturnOutsideFunction: true, allowImportExportEverywhere: true, allowSuperOutsideMethod: false },
  }) as JsNode;
  const parents = new Map<JsNode, JsNode>();
  const depths = new Map<JsNode, number>([[root, 0]]);
  const nodes: JsNode[] = [];
  const left = [root];
  for (let node = left.pop(); node; node = left.pop()) {
    nodes.push(node);
    const depth = (depths.get(node) as number) + 1;
    if (depth > DEEPEST) throw new RangeError('nested too deeply');
    const parts = childrenOf(node);
    for (let i = parts.length - 1; i >= 0; i--) {
      parents.set(parts[i] as JsNode, node);
      depths.set(parts[i] as JsNode, depth);
      left.push(parts[i] as JsNode);
    }
  }
  return { root, nodes, parentOf: (node) => parents.get(node) };
}

function childrenOf(node: JsNode): JsNode[] {
  const children: JsNode[] = [];
  for (const key in node) {
    const part: unknown = node[key];
    if (part === null || typeof part !== 'object' || part instanceof RegExp) continue;
    if (Array.isArray(part)) children.push(...part.filter((one) => typeof one?.type === 'string'));
    else if (typeof (part as JsNode).type === 'string') children.push(part as JsNode);
  }
  return children;
}

/** Which names a JavaScript program binds, and what those stand for that are bound once. */
import type { JsNode, ParsedJavaScript } from './syntax.ts';

export interface Bindings {
  count: Map<string, number>;
  /** What `name = value` gives a name that is bound once. */
  values: Map<string, JsNode>;
  /** Of `const { part: name } = value`: where the name comes from. */
  parts: Map<string, { of: JsNode; name: string }>;
  /** What an import has made of a name: the module, and the part of it. */
  imported: Map<string, string>;
}

export function bindingsOf({ nodes }: ParsedJavaScript): Bindings {
  const bindings: Bindings = { count: new Map(), values: new Map(), parts: new Map(), imported: new Map() };
  const bind = (name: string) => bindings.count.set(name, (bindings.count.get(name) ?? 0) + 1);
  const bindPattern = (pattern: JsNode | null | undefined, from?: JsNode): void => {
    switch (pattern?.type) {
      case 'Identifier':
        bind(pattern.name);
        break;
      case 'ObjectPattern':
        for (const property of pattern.properties as JsNode[]) {
          const { key, value, computed, type } = property;
          if (from && type === 'Property' && !computed && key.type === 'Identifier' && value.type === 'Identifier') bindings.parts.set(value.name, { of: from, name: key.name });
          bindPattern(type === 'RestElement' ? property.argument : value);
        }
        break;
      case 'ArrayPattern':
        for (const element of pattern.elements as (JsNode | null)[]) bindPattern(element);
        break;
      case 'AssignmentPattern':
        bindPattern(pattern.left);
        break;
      case 'RestElement':
        bindPattern(pattern.argument);
        break;
    }
  };
  for (const node of nodes) {
    switch (node.type) {
      case 'VariableDeclarator':
        bindPattern(node.id, node.init ?? undefined);
        if (node.id.type === 'Identifier' && node.init) bindings.values.set(node.id.name, node.init);
        break;
      case 'AssignmentExpression':
        bindPattern(node.left);
        break;
      case 'UpdateExpression':
        bindPattern(node.argument);
        break;
      case 'ForInStatement':
      case 'ForOfStatement':
        if (node.left.type !== 'VariableDeclaration') bindPattern(node.left);
        break;
      case 'CatchClause':
        bindPattern(node.param);
        break;
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
      case 'ClassDeclaration':
      case 'ClassExpression':
        bindPattern(node.id);
        for (const parameter of (node.params ?? []) as JsNode[]) bindPattern(parameter);
        break;
      case 'ImportDeclaration':
        for (const { local, imported, type } of node.specifiers as JsNode[]) {
          bind(local.name);
          bindings.imported.set(local.name, `import:${moduleName(node.source.value)}${type === 'ImportSpecifier' ? `.${imported.name ?? imported.value}` : ''}`);
        }
        break;
    }
  }
  for (const map of [bindings.values, bindings.parts]) for (const name of map.keys()) if (bindings.count.get(name) !== 1) map.delete(name);
  return bindings;
}

/** `node:fs` and `fs` are the same. */
export function moduleName(specifier: string): string {
  return specifier.startsWith('node:') ? specifier.slice('node:'.length) : specifier;
}

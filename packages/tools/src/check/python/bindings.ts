/** Which names a Python program binds, and what those stand for that are bound once. */
import type { SyntaxNode } from '../grammars.ts';
import { field } from './constants.ts';

export interface Bindings {
  /** How often a name is bound, by whatever means. */
  count: Map<string, number>;
  /** The right side, where `name = value` is all that binds it. */
  values: Map<string, SyntaxNode>;
  /** What an import has made of a name: `sp` is `subprocess`, `run` is `subprocess.run`. */
  imported: Map<string, string>;
  /** Functions and classes at the top of the program, outside of any condition. */
  defined: Set<string>;
}

export function bindingsOf(nodes: readonly SyntaxNode[], text: string): Bindings {
  const bindings: Bindings = { count: new Map(), values: new Map(), imported: new Map(), defined: new Set() };
  const nameOf = (node: SyntaxNode) => text.slice(node.start, node.end).normalize('NFKC');
  const bind = (name: string) => bindings.count.set(name, (bindings.count.get(name) ?? 0) + 1);
  const bindTarget = (node: SyntaxNode | undefined): void => {
    if (!node) return;
    if (node.type === 'identifier') bind(nameOf(node));
    else if (/pattern|tuple|list|target|parenthesized/.test(node.type)) for (const child of node.children) bindTarget(child);
  };
  for (const node of nodes) {
    switch (node.type) {
      case 'assignment': {
        const [left, right] = [field(node, 'left'), field(node, 'right')];
        bindTarget(left);
        if (left?.type === 'identifier' && right) bindings.values.set(nameOf(left), right);
        break;
      }
      case 'augmented_assignment':
      case 'for_statement':
      case 'for_in_clause':
        bindTarget(field(node, 'left'));
        break;
      case 'named_expression':
        bindTarget(field(node, 'name'));
        break;
      case 'function_definition':
      case 'class_definition': {
        const name = field(node, 'name');
        bindTarget(name);
        const outer = node.parent?.type === 'decorated_definition' ? node.parent.parent : node.parent;
        if (name && outer?.type === 'module') bindings.defined.add(nameOf(name));
        break;
      }
      case 'as_pattern_target':
      case 'delete_statement':
        for (const child of node.children) bindTarget(child);
        break;
      case 'parameters':
      case 'lambda_parameters':
        for (const child of node.children)
          bindTarget(child.type === 'identifier' ? child : (field(child, 'name') ?? child.children.find(({ type }) => /identifier|pattern/.test(type))));
        break;
      case 'case_pattern':
      case 'splat_pattern':
        for (const child of node.children) bindTarget(child.type === 'dotted_name' && child.children.length === 1 ? child.children[0] : child);
        break;
      case 'import_statement':
      case 'import_from_statement':
        bindImports(node, nameOf, bind, bindings.imported);
        break;
    }
  }
  for (const [name] of bindings.values) if (bindings.count.get(name) !== 1) bindings.values.delete(name);
  return bindings;
}

function bindImports(node: SyntaxNode, nameOf: (node: SyntaxNode) => string, bind: (name: string) => void, imported: Map<string, string>): void {
  const from = field(node, 'module_name');
  const prefix = from ? `${nameOf(from)}.` : '';
  for (const item of node.children.filter((child) => child.field === 'name')) {
    const [module, alias] = item.type === 'aliased_import' ? [field(item, 'name'), field(item, 'alias')] : [item, undefined];
    if (!module) continue;
    const path = nameOf(module);
    const name = alias ? nameOf(alias) : from ? path : (path.split('.')[0] as string);
    bind(name);
    imported.set(name, alias || from ? prefix + path : name);
  }
}

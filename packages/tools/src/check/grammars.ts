/** The grammars that are loaded when a program first needs them: Python's, and that of the shell. */
import { createRequire } from 'node:module';
import type { Parser, Tree } from '@vscode/tree-sitter-wasm';

type Grammar = 'python' | 'bash';

/** A node of a parsed text. Offsets are in UTF-16 units. */
export interface SyntaxNode {
  type: string;
  /** What it is to its parent: `left`, `name`, `body`, ... */
  field: string | null;
  start: number;
  end: number;
  parent: SyntaxNode | null;
  children: SyntaxNode[];
}

/** A text that takes longer is given up: grammars that look ahead can be made to look for ever. */
const PATIENCE_MS = 2_000;
/** Nodes above each other; looking from each to the top would take for ever. */
const DEEPEST = 1_000;
const require = createRequire(import.meta.url);
const parsers = new Map<Grammar, Promise<Parser>>();

/** The parser of a grammar; after it has loaded, parsing takes well under a millisecond for a short program. */
export function grammar(name: Grammar): Promise<(text: string) => SyntaxNode | undefined> {
  let parser = parsers.get(name);
  if (!parser) {
    parser = load(name);
    parsers.set(name, parser);
    parser.catch(() => parsers.delete(name));
  }
  return parser.then((ready) => (text) => parsed(ready, text));
}

async function load(name: Grammar): Promise<Parser> {
  const { Parser, Language } = require('@vscode/tree-sitter-wasm') as typeof import('@vscode/tree-sitter-wasm');
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(require.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${name}.wasm`)));
  return parser;
}

/** Undefined where the text is given up. */
function parsed(parser: Parser, text: string): SyntaxNode | undefined {
  const end = performance.now() + PATIENCE_MS;
  const tree = parser.parse(text, null, { progressCallback: () => performance.now() > end });
  if (!tree) {
    parser.reset();
    return undefined;
  }
  try {
    return copied(tree);
  } finally {
    tree.delete();
  }
}

/** The tree as plain objects, in one pass: each look at a node of the parser's own is a call into it. Undefined where it is too deep. */
function copied(tree: Tree): SyntaxNode | undefined {
  const cursor = tree.walk();
  const here = (parent: SyntaxNode | null): SyntaxNode => {
    const type = cursor.nodeIsMissing ? 'MISSING' : cursor.nodeType;
    const node = { type, field: cursor.currentFieldName, start: cursor.startIndex, end: cursor.endIndex, parent, children: [] };
    parent?.children.push(node);
    return node;
  };
  const root = here(null);
  let at: SyntaxNode = root;
  let depth = 0;
  try {
    while (depth < DEEPEST) {
      if (cursor.gotoFirstChild()) {
        depth++;
        at = here(at);
        continue;
      }
      while (!cursor.gotoNextSibling()) {
        if (!cursor.gotoParent()) return root;
        depth--;
        at = at.parent as SyntaxNode;
      }
      at = here(at.parent);
    }
    return undefined;
  } finally {
    cursor.delete();
  }
}

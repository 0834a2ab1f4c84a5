/** What is known of a JavaScript program from its text. */
import type { Constant, GivenArguments, ProgramFacts } from '../facts.ts';
import { NETWORK_GLOBALS } from '../refused.ts';
import { type Bindings, bindingsOf, moduleName } from './bindings.ts';
import { foldJavaScript, keyOf } from './constants.ts';
import { type Resolve, resolver } from './names.ts';
import { type JsNode, type ParsedJavaScript, parseJavaScript } from './syntax.ts';

const PROCESS = /^(?:import:child_process\.(exec|execSync|execFile|execFileSync|spawn|spawnSync|fork)|(?:Deno\.Command|Deno\.run|Bun\.spawn|Bun\.spawnSync|process\.binding))$/;
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
/** Names that JavaScript itself asks a function for. */
const OF_FUNCTIONS = /\.(then|toJSON|constructor|prototype|call|apply|bind|name|length)$/;
const OF_PROMISES = new Set(['then', 'catch', 'finally']);
const NO_MODULES = 'is not available here: use the globals (tools, files, console, URL, Intl, crypto, ...) instead of modules';

/** Undefined where the text is nested too deeply to be looked at. */
export function javascriptFacts(text: string): ProgramFacts | undefined {
  try {
    return new Reader(parseJavaScript(text)).read();
  } catch (error) {
    if (!(error instanceof SyntaxError) || error.message.startsWith('Not enough stack space')) return undefined;
    const { message, pos = 0 } = error as SyntaxError & { pos?: number };
    const unparsed = { message: message.replace(/ \(\d+:\d+\)$/, ''), at: pos };
    return { imports: [], processes: [], reaches: [], toolCalls: [], network: [], unparsed };
  }
}

class Reader {
  readonly #tree: ParsedJavaScript;
  readonly #bindings: Bindings;
  readonly #resolve: Resolve;
  readonly #facts: ProgramFacts = { imports: [], processes: [], reaches: [], toolCalls: [], network: [] };

  constructor(tree: ParsedJavaScript) {
    this.#tree = tree;
    this.#bindings = bindingsOf(tree);
    this.#resolve = resolver(this.#bindings);
  }

  read(): ProgramFacts {
    const { nodes } = this.#tree;
    const hasTools = !this.#bindings.count.has('tools');
    const handles = nodes.some((node) => this.#handles(node));
    let waysOut = false;
    for (const node of nodes) {
      this.#import(node);
      if (node.type === 'CallExpression' || node.type === 'NewExpression') this.#call(node, handles);
      if (node.type === 'Identifier') {
        if (NETWORK_GLOBALS.has(node.name) && this.#isGlobal(node)) this.#facts.network.push({ by: node.name, at: node.start });
        if (node.name === 'tools') waysOut ||= this.#isToolsAsValue(node);
      }
      const reached = this.#reached(node);
      if (reached !== undefined) this.#facts.reaches.push({ name: reached, at: node.start });
    }
    if (!hasTools) this.#facts.toolCalls = [];
    // Where the program looks at its tools before it calls one, what it calls may depend on that.
    if (waysOut) for (const call of this.#facts.toolCalls) call.guarded = true;
    return this.#facts;
  }

  #constant(node: JsNode | null | undefined): Constant {
    return node ? foldJavaScript(node, (name) => this.#bindings.values.get(name)) : undefined;
  }
  #parent(node: JsNode): JsNode | undefined {
    return this.#tree.parentOf(node);
  }
  /** Whether this is a use of a global by its name, not a key or a name of the program's own. */
  #isGlobal(node: JsNode): boolean {
    if (this.#bindings.count.has(node.name)) return false;
    const parent = this.#parent(node);
    if (parent?.type === 'MemberExpression') return parent.object === node || parent.computed;
    if (parent?.type === 'Property' || parent?.type === 'MethodDefinition' || parent?.type === 'PropertyDefinition') return parent.value === node || parent.computed;
    if (parent?.type === 'UnaryExpression' && parent.operator === 'typeof') return false;
    return parent?.type !== 'LabeledStatement' && parent?.type !== 'BreakStatement' && parent?.type !== 'ContinueStatement';
  }
  #handles(node: JsNode): boolean {
    if (node.type === 'TryStatement') return node.handler !== null;
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression' || node.callee.property.type !== 'Identifier') return false;
    const { name } = node.callee.property;
    return name === 'catch' || name === 'allSettled' || name === 'any' || name === 'race' || (name === 'then' && node.arguments.length > 1);
  }
  #isToolsAsValue(node: JsNode): boolean {
    let at = node;
    for (let parent = this.#parent(at); parent?.type === 'MemberExpression' && parent.object === at; parent = this.#parent(at)) at = parent;
    const parent = this.#parent(at);
    if (at === node) return parent?.type !== 'Property' || parent.value === node;
    return !(parent?.type === 'CallExpression' && parent.callee === at) && !(parent?.type === 'VariableDeclarator' && parent.init === at);
  }

  #import(node: JsNode): void {
    const push = (specifier: unknown) => {
      if (typeof specifier === 'string') this.#facts.imports.push({ module: moduleName(specifier), at: node.start, guarded: this.#isCaught(node) });
    };
    if (node.type === 'ImportDeclaration' || node.type.startsWith('Export')) {
      push(node.source?.value);
      this.#facts.unparsed ??= { message: `${node.type.startsWith('Export') ? 'export' : 'import'} ${NO_MODULES}`, at: node.start };
    } else if (node.type === 'ImportExpression') push(this.#constant(node.source)?.value);
    else if (node.type === 'CallExpression' && this.#resolve(node.callee) === 'require') push(this.#constant(node.arguments[0])?.value);
  }

  #call(node: JsNode, handles: boolean): void {
    const callee = this.#resolve(node.callee);
    if (callee === undefined) return;
    const given = node.arguments as JsNode[];
    const process = PROCESS.exec(callee);
    if (process) return this.#process(callee.replace('import:', ''), process[1] ?? '', node, given);
    if (node.type !== 'CallExpression' || !callee.startsWith('tools.') || OF_FUNCTIONS.test(callee)) return;
    const around = this.#functionAround(node);
    const parent = this.#parent(node);
    const guarded = this.#isCaught(node) || node.optional || (handles && (around !== undefined || parent?.type !== 'AwaitExpression'));
    this.#facts.toolCalls.push({ path: callee.slice('tools.'.length), at: node.start, args: this.#arguments(given), unawaited: this.#isUnawaited(node), guarded });
  }

  #process(by: string, name: string, node: JsNode, given: JsNode[]): void {
    const [first, second] = given.slice(0, 2).map((item) => this.#constant(item)?.value);
    const rest = Array.isArray(second) ? second.filter((value) => typeof value === 'string') : [];
    const command = typeof first !== 'string' ? undefined : name.startsWith('exec') && !name.startsWith('execFile') ? first : [first, ...rest];
    this.#facts.processes.push({ by, at: node.start, ...(command === undefined ? {} : { command }) });
  }

  #arguments(given: JsNode[]): GivenArguments {
    const args: GivenArguments = { positional: [], named: new Map(), open: given.some(({ type }) => type === 'SpreadElement') };
    const [only] = given;
    if (given.length === 1 && only?.type === 'ObjectExpression') {
      for (const property of only.properties as JsNode[]) {
        const key = property.type === 'Property' ? keyOf(property, 'key', (node) => this.#constant(node)) : undefined;
        if (key === undefined || key === '__proto__') args.open = true;
        else args.named.set(key, { value: property.kind === 'init' && !property.method ? this.#constant(property.value) : undefined, at: property.start });
      }
      return args;
    }
    const values = given.map((item) => this.#constant(item));
    // It may be a record of all arguments, or undefined, which counts as not given.
    if (values.some((value) => value === undefined)) args.open = true;
    if (given.length > 1 || !args.open) args.positional = values;
    return args;
  }

  #isUnawaited(node: JsNode): boolean {
    const parent = this.#parent(node);
    switch (parent?.type) {
      case 'ExpressionStatement':
        return this.#tree.root.body.at(-1) !== parent;
      case 'MemberExpression':
        return parent.object === node && !OF_PROMISES.has(keyOf(parent, 'property', (key) => this.#constant(key)) ?? 'then');
      case 'BinaryExpression':
      case 'TemplateLiteral':
        return true;
      case 'IfStatement':
      case 'ConditionalExpression':
        return parent.test === node;
      case 'ForOfStatement':
        return parent.right === node && !parent.await;
      case 'VariableDeclarator':
        return parent.id.type !== 'Identifier';
      default:
        return false;
    }
  }

  #functionAround(node: JsNode): JsNode | undefined {
    for (let at = this.#parent(node); at; at = this.#parent(at)) if (FUNCTIONS.has(at.type)) return at;
    return undefined;
  }
  /** Whether it stands in the body of a `try` with a `catch`, its failure is caught where it stands, or it is never run. */
  #isCaught(node: JsNode): boolean {
    for (let at = node, parent = this.#parent(at); parent; at = parent, parent = this.#parent(at)) {
      if (parent.type === 'TryStatement' && parent.block === at && parent.handler) return true;
      if ((parent.type === 'IfStatement' || parent.type === 'ConditionalExpression') && parent.consequent === at && parent.test.value === false) return true;
      if (parent.type === 'CallExpression' && this.#handles(parent) && (parent.callee.object === at || parent.arguments.includes(at))) return true;
    }
    return false;
  }

  /** What `strict` refuses, by whatever road it is named here. */
  #reached(node: JsNode): string | undefined {
    switch (node.type) {
      case 'ImportExpression':
        return 'import()';
      case 'Identifier': {
        if ((node.name !== 'eval' && node.name !== 'Function') || !this.#isGlobal(node)) return undefined;
        const parent = this.#parent(node);
        if (parent?.type === 'BinaryExpression' && parent.operator === 'instanceof') return undefined;
        const ofPrototype = parent?.type === 'MemberExpression' && !parent.computed && parent.property.name === 'prototype' && parent.object === node;
        return ofPrototype ? undefined : node.name;
      }
      case 'MemberExpression': {
        const path = this.#resolve(node);
        if (path === 'eval' || path === 'Function') return path;
        const key = keyOf(node, 'property', (part) => this.#constant(part));
        if (key !== 'constructor') return undefined;
        const { object } = node;
        const ofFunction = FUNCTIONS.has(object.type) || /(^|\.)(constructor|prototype)$/.test(path?.replace(/\.constructor$/, '') ?? '');
        const ofConstructor = object.type === 'MemberExpression' && keyOf(object, 'property', (part) => this.#constant(part)) === 'constructor';
        return ofFunction || ofConstructor ? 'Function' : undefined;
      }
      default:
        return undefined;
    }
  }
}

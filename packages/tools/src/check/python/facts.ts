/** What is known of a Python program from its text. */
import type { Constant, GivenArguments, ProgramFacts, ToolCallFact } from '../facts.ts';
import { grammar, type SyntaxNode } from '../grammars.ts';
import { NETWORK_MODULES, STRICT_NAMES } from '../refused.ts';
import { type Bindings, bindingsOf } from './bindings.ts';
import { field, foldPython, isItem } from './constants.ts';
import { type Resolve, resolver } from './names.ts';

/** What starts a process, and where its command stands: the place of its first argument, or all of them. */
const PROCESS =
  /(?:^|\.)(?:(os|posix)\.(system|popen|exec\w+|spawn\w+|posix_spawnp?|fork|forkpty)|(subprocess)\.(run|call|check_call|check_output|Popen|getoutput|getstatusoutput)|(asyncio(?:\.subprocess)?)\.(create_subprocess_exec|create_subprocess_shell)|(pty)\.(spawn|fork))$/;
const FUNCTIONS = new Set(['function_definition', 'lambda']);
/** Where the value of an expression is looked at, so that a call that was not awaited is not what is meant. */
const LOOKS = new Set(['attribute', 'subscript', 'binary_operator', 'comparison_operator', 'boolean_operator', 'not_operator', 'for_in_clause', 'for_statement', 'interpolation']);

export async function pythonFacts(text: string): Promise<ProgramFacts | undefined> {
  const root = (await grammar('python'))(text);
  return root && new Reader(text, root).read();
}

class Reader {
  readonly #text: string;
  readonly #nodes: SyntaxNode[];
  readonly #bindings: Bindings;
  readonly #resolve: Resolve;
  /** Those that it imports. */
  #modules: Set<string> | undefined;
  /** Somewhere it catches what fails. */
  readonly #handles: boolean;
  /** Its top runs inside an event loop. */
  readonly #loops: boolean;
  readonly #facts: ProgramFacts = { imports: [], processes: [], reaches: [], toolCalls: [], network: [] };

  constructor(text: string, root: SyntaxNode) {
    this.#text = text;
    this.#nodes = allOf(root);
    this.#bindings = bindingsOf(this.#nodes, text);
    this.#resolve = resolver(text, this.#bindings);
    this.#handles = this.#nodes.some(({ type, start, end }) => type.startsWith('except') || this.#suppresses(type, start, end));
    this.#loops = this.#nodes.some((node) => node.type === 'await' && functionAround(node) === undefined);
  }

  read(): ProgramFacts {
    const hasTools = this.#resolvesToTools();
    let waysOut = !hasTools;
    for (const node of this.#nodes) {
      if (node.type === 'ERROR' || node.type === 'MISSING') this.#facts.unparsed ??= { message: 'invalid syntax', at: node.start };
      else if (node.type === 'import_statement' || node.type === 'import_from_statement') this.#imports(node);
      else if (node.type === 'call') this.#call(node);
      else if (node.type === 'identifier') waysOut ||= this.#isToolsAsValue(node);
      this.#reach(node);
    }
    if (!hasTools) this.#facts.toolCalls = [];
    // Where the program looks at its tools before it calls one, what it calls may depend on that.
    if (waysOut) for (const call of this.#facts.toolCalls) call.guarded = true;
    return this.#facts;
  }

  #source(node: SyntaxNode): string {
    return this.#text.slice(node.start, node.end);
  }
  #constant(node: SyntaxNode | undefined): Constant {
    return foldPython(node, { text: this.#text, valueOf: (name) => this.#bindings.values.get(name) });
  }
  #suppresses(type: string, start: number, end: number): boolean {
    return (type === 'identifier' && this.#text.slice(start, end) === 'suppress') || (type === 'keyword_argument' && this.#text.startsWith('return_exceptions', start));
  }

  /** Whether `tools` is what every program is given under that name. */
  #resolvesToTools(): boolean {
    const { count, imported } = this.#bindings;
    return !count.has('tools') || (count.get('tools') === 1 && imported.get('tools') === 'fermata.tools');
  }
  #isToolsAsValue(node: SyntaxNode): boolean {
    if (this.#source(node) !== 'tools') return false;
    const { parent } = node;
    if (parent?.type === 'attribute' || parent?.type === 'dotted_name') return false;
    if (parent?.type === 'argument_list' && parent.parent && this.#resolve(parent.parent)?.startsWith('tools.')) return false;
    return !(parent?.type === 'subscript' && node.field === 'value' && parent.parent?.type === 'call');
  }

  #imports(node: SyntaxNode): void {
    const guarded = this.#isSpared(node);
    const from = field(node, 'module_name');
    if (from?.type === 'relative_import') return;
    const modules = from ? [from] : node.children.filter((child) => child.field === 'name').map((item) => field(item, 'name') ?? item);
    for (const item of from ? node.children.filter((child) => child.field === 'name') : []) {
      const name = this.#source(field(item, 'name') ?? item).normalize('NFKC');
      if (STRICT_NAMES.modules.has(name)) this.#facts.reaches.push({ name, at: item.start });
      const path = `${this.#source(from as SyntaxNode)}.${name}`;
      if (NETWORK_MODULES.has(path)) this.#facts.network.push({ by: path, at: item.start });
    }
    for (const module of modules) this.#import(this.#source(module).normalize('NFKC').replace(/\s/g, ''), module, guarded);
  }
  #import(module: string, at: SyntaxNode, guarded: boolean): void {
    this.#facts.imports.push({ module, at: at.start, guarded });
    if (NETWORK_MODULES.has(module) || NETWORK_MODULES.has(module.split('.')[0] as string)) this.#facts.network.push({ by: module, at: at.start });
  }

  /** Whether a failure of it is or may be caught, or it is never run at all. */
  #isSpared(node: SyntaxNode, inLoop = false): boolean {
    return isCaught(node, this.#text) || isUnreached(node, this.#text) || (this.#handles && (inLoop || functionAround(node) !== undefined));
  }

  #call(node: SyntaxNode): void {
    const callee = this.#resolve(field(node, 'function'));
    if (callee === undefined) return;
    const given = field(node, 'arguments')?.children.filter(isItem) ?? [];
    if (callee === '__import__' || callee === 'importlib.import_module' || callee === 'importlib.__import__') {
      const module = this.#constant(given[0])?.value;
      if (typeof module === 'string' && !module.startsWith('.')) this.#import(module, node, this.#isSpared(node));
    } else if (callee.startsWith('tools.')) this.#toolCall(callee.slice('tools.'.length), node, given);
    else if (PROCESS.test(callee)) this.#process(callee, node, given);
  }

  #process(callee: string, node: SyntaxNode, given: SyntaxNode[]): void {
    const [, , name = callee] = /(?:^|\.)((?:os|posix|subprocess|asyncio|pty)\.(?:\w+\.)?(\w+))$/.exec(callee) ?? [];
    const values = given.map((item) => this.#constant(item.type === 'keyword_argument' ? field(item, 'value') : item)?.value);
    const named = given.findIndex((item) => item.type === 'keyword_argument' && /^(args|cmd|command|path|file)\s*=/.test(this.#source(item)));
    const first = name.startsWith('spawn') && /^(spawn)(l|v)/.test(name) ? values[1] : (values[0] ?? values[named]);
    const all = /^exec|^spawn|^create_subprocess_exec|^posix_spawn/.test(name) ? values.flat().filter((value) => typeof value === 'string') : undefined;
    const command = all ?? (typeof first === 'string' ? first : isTexts(first) ? first : undefined);
    this.#facts.processes.push({ by: callee, at: node.start, ...(command === undefined || command.length === 0 ? {} : { command }) });
  }

  #toolCall(path: string, node: SyntaxNode, given: SyntaxNode[]): void {
    const around = functionAround(node);
    const inLoop = around ? around.children[0]?.type === 'async' : this.#loops;
    const call: ToolCallFact = { path, at: node.start, args: this.#arguments(given), unawaited: inLoop && this.#isUnawaited(node), guarded: this.#isSpared(node, inLoop) };
    this.#facts.toolCalls.push(call);
  }

  #arguments(given: SyntaxNode[]): GivenArguments {
    const args: GivenArguments = { positional: [], named: new Map(), open: false };
    for (const item of given) {
      if (item.type === 'keyword_argument') {
        const name = field(item, 'name');
        if (name) args.named.set(this.#source(name).normalize('NFKC'), { value: this.#constant(field(item, 'value')), at: item.start });
      } else if (item.type === 'list_splat' || item.type === 'dictionary_splat' || item.type === 'for_in_clause') args.open = true;
      else args.positional.push(this.#constant(item));
    }
    const [only] = given;
    const record = args.positional[0]?.value;
    if (given.length !== 1 || only === undefined || args.positional.length !== 1) return args;
    if (record !== null && typeof record === 'object' && !Array.isArray(record)) {
      args.named = new Map(Object.entries(record).map(([name, value]) => [name, { value: { value }, at: only.start }]));
      args.positional = [];
    } else if (only.type === 'dictionary' || (args.positional[0] === undefined && only.type !== 'string' && only.type !== 'list')) {
      // It may be a mapping of all arguments.
      args.open = true;
      args.positional = [];
    }
    return args;
  }

  #isUnawaited(node: SyntaxNode): boolean {
    const { parent } = node;
    if (parent?.type === 'expression_statement') {
      const isLast = parent.parent?.type === 'module' && parent.parent.children.filter(isItem).at(-1) === parent;
      return !isLast;
    }
    return parent !== null && LOOKS.has(parent.type) && ['object', 'value', 'left', 'right', 'argument', null].includes(node.field);
  }

  /** What `strict` refuses, by whatever road it is named here. */
  #reach(node: SyntaxNode): void {
    const found = this.#reached(node);
    if (found !== undefined && this.#facts.reaches.at(-1)?.at !== node.start) this.#facts.reaches.push({ name: found, at: node.start });
  }
  #reached(node: SyntaxNode): string | undefined {
    if (node.type === 'identifier') {
      const name = this.#source(node).normalize('NFKC');
      if (node.field === 'attribute') return STRICT_NAMES.attributes.has(name) ? name : undefined;
      if (node.parent?.type === 'keyword_argument' && node.field === 'name') return undefined;
      return this.#isBuiltIn(name) ? name : undefined;
    }
    if (node.type !== 'subscript' && node.type !== 'call' && node.type !== 'attribute') return undefined;
    const path = this.#resolve(node);
    if (path === undefined || path.endsWith(')')) return undefined;
    const [first, ...rest] = path.split('.') as [string, ...string[]];
    if (rest.length === 0 && node.type !== 'attribute') return this.#isBuiltIn(first) ? first : undefined;
    return STRICT_NAMES.modules.has(first) ? undefined : rest.find((part) => STRICT_NAMES.modules.has(part) && first !== 'tools' && this.#isImported(first));
  }
  #isImported(name: string): boolean {
    this.#modules ??= new Set([...this.#bindings.imported.values()].map((path) => path.split('.')[0] as string));
    return this.#modules.has(name);
  }
  #isBuiltIn(name: string): boolean {
    if (!STRICT_NAMES.python.has(name)) return false;
    return !this.#bindings.defined.has(name) && !this.#bindings.imported.has(name);
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === 'string');
}

function allOf(root: SyntaxNode): SyntaxNode[] {
  const nodes: SyntaxNode[] = [];
  const left = [root];
  for (let node = left.pop(); node; node = left.pop()) {
    nodes.push(node);
    for (let i = node.children.length - 1; i >= 0; i--) left.push(node.children[i] as SyntaxNode);
  }
  return nodes;
}

function functionAround(node: SyntaxNode): SyntaxNode | undefined {
  for (let at = node.parent; at; at = at.parent) if (FUNCTIONS.has(at.type)) return at;
  return undefined;
}

/** Whether it stands in the body of a `try` with an `except`, or of a `with suppress(...)`. */
function isCaught(node: SyntaxNode, text: string): boolean {
  for (let at: SyntaxNode = node; at.parent; at = at.parent) {
    const { parent } = at;
    if (parent.type === 'try_statement' && at.field === 'body' && parent.children.some(({ type }) => type.startsWith('except'))) return true;
    const clause = parent.type === 'with_statement' && at.field === 'body' ? parent.children.find(({ type }) => type === 'with_clause') : undefined;
    if (clause && /\b(suppress|raises|assertRaises)\b/.test(text.slice(clause.start, clause.end))) return true;
  }
  return false;
}

/** Whether it stands below a condition that is written down as false: `if False`, `if TYPE_CHECKING`. */
function isUnreached(node: SyntaxNode, text: string): boolean {
  for (let at: SyntaxNode = node; at.parent; at = at.parent) {
    const { parent } = at;
    const condition =
      parent.type === 'conditional_expression'
        ? parent.children[2]
        : (parent.type === 'if_statement' || parent.type === 'while_statement') && (at.field === 'consequence' || at.field === 'body')
          ? field(parent, 'condition')
          : undefined;
    const isBody = parent.type !== 'conditional_expression' || parent.children[0] === at;
    if (condition && isBody && /^(False|0|None|(typing\.)?TYPE_CHECKING)$/.test(text.slice(condition.start, condition.end))) return true;
  }
  return false;
}

/** The programs that a text of the shell would start, as far as it names them. */
import { grammar, type SyntaxNode } from '../grammars.ts';

/** They start what their arguments name. */
const STARTERS = new Set([
  'sudo',
  'doas',
  'env',
  'xargs',
  'nohup',
  'time',
  'timeout',
  'nice',
  'exec',
  'command',
  'builtin',
  'setsid',
  'stdbuf',
  'busybox',
  'find',
  'parallel',
  'watch',
  'strace',
  'chroot',
]);
/** They run an argument of theirs as text of the shell. */
const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'eval']);
const DEEPEST = 5;

/** Names of programs, without their folders. */
export async function commandsIn(text: string): Promise<Set<string>> {
  const parse = await grammar('bash');
  const found = new Set<string>();
  collect(text, found, parse, 0);
  return found;
}

/** The same for a program and its arguments. */
export async function commandsOf([program = '', ...args]: readonly string[]): Promise<Set<string>> {
  const parse = await grammar('bash');
  const found = new Set<string>();
  note(program, args, found, parse, 0);
  return found;
}

type Parse = (text: string) => SyntaxNode | undefined;

function collect(text: string, found: Set<string>, parse: Parse, depth: number): void {
  const root = depth > DEEPEST ? undefined : parse(text);
  const left = root ? [root] : [];
  for (let node = left.pop(); node; node = left.pop()) {
    left.push(...node.children);
    if (node.type !== 'command') continue;
    const [name, ...args] = node.children
      .filter(({ type, field }) => field === 'name' || field === 'argument' || type === 'command_name')
      .map((part) => plain(text.slice(part.start, part.end)));
    if (name !== undefined) note(name, args, found, parse, depth);
  }
}

function note(program: string, args: readonly string[], found: Set<string>, parse: Parse, depth: number): void {
  const name = baseName(program);
  found.add(name);
  // A program that is named by its path is copied, linked or handed on.
  for (const arg of args) if (/^\/(usr\/)?(local\/)?s?bin\//.test(arg)) found.add(baseName(arg));
  if (STARTERS.has(name)) for (const arg of args) if (/^[\w./+-]+$/.test(arg) && !arg.startsWith('-')) found.add(baseName(arg));
  if (SHELLS.has(name) || STARTERS.has(name)) for (const arg of args) if (/\s/.test(arg) || SHELLS.has(name)) collect(arg, found, parse, depth + 1);
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.(exe|com|cmd|bat)$/i, '');
}

/** A word without its quotes and escapes. */
function plain(word: string): string {
  return word
    .replace(/\\(.)/g, '$1')
    .replace(/^\$?(['"])([\s\S]*)\1$/, '$2')
    .replace(/''|""/g, '');
}

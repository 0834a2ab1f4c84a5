/**
 * Checks how the sources hang together: imports point left (LAYERS), no file imports itself by a detour, no file is
 * named after nothing, none is too long. Prints what is wrong and exits with 1.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A package, or a folder of a package's src, may import those before it in its row. Folders in no row are free. */
const LAYERS = {
  packages: ['protocol', 'machine', 'tools', 'models', 'engine', 'client', 'server', 'fermata'],
  'packages/machine/src': ['wasm', 'hosts'],
};
/** Agent frameworks, and where each may be imported: files of `packages` whose path begins so. */
const FRAMEWORKS = {
  ai: ['models/src/', 'fermata/src/adapters/ai-sdk'],
  '@langchain/': ['fermata/src/adapters/langchain'],
  '@openai/agents': ['fermata/src/adapters/openai-agents'],
};
const GRAB_BAGS = new Set(['utils', 'util', 'helpers', 'helper', 'shared', 'common', 'misc', 'manager', 'types']);
const MAX_LINES = 500;
const ROOTS = ['packages', 'scripts', 'tests', 'examples', 'bench'];
const SKIPPED = new Set(['node_modules', 'dist', 'artifact', 'fixtures']);
const SOURCE = /\.(ts|mts|js|mjs|py|c|h|sh)$/;

/** What is wrong in the repository at `root`, one line each. */
export function problemsIn(root) {
  const files = ROOTS.flatMap((folder) => walk(root, folder));
  const imports = new Map(files.filter((file) => /^packages\/[^/]+\/src\/.*ts$/.test(file)).map((file) => [file, importsOf(root, file)]));
  return [
    ...files.flatMap((file) => shapeProblems(root, file)),
    ...[...imports].flatMap(([file, targets]) => [...layerProblems(file, targets), ...frameworkProblems(root, file)]),
    ...cycles(imports),
  ];
}

function walk(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : walk(root, path);
    return SOURCE.test(entry.name) ? [path] : [];
  });
}

function shapeProblems(root, file) {
  const problems = [];
  const name = basename(file).split('.')[0];
  if (GRAB_BAGS.has(name)) problems.push(`${file}: name it after what it does; "${name}" says nothing`);
  const lines = readFileSync(join(root, file), 'utf8').split('\n').length - 1;
  if (lines > MAX_LINES) problems.push(`${file}: ${lines} lines; split it (at most ${MAX_LINES})`);
  return problems;
}

function frameworkProblems(root, file) {
  return specifiersIn(root, file).flatMap((specifier) => {
    const [name, places] =
      Object.entries(FRAMEWORKS).find(([framework]) => specifier === framework || specifier.startsWith(framework.endsWith('/') ? framework : `${framework}/`)) ?? [];
    return places && !places.some((place) => file.startsWith(`packages/${place}`)) ? [`${file}: imports ${name}; only ${places.join(' and ')} may`] : [];
  });
}

function specifiersIn(root, file) {
  const code = readFileSync(join(root, file), 'utf8').replace(/^\s*(\*|\/\*|\/\/).*$/gm, '');
  return [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)].map((match) => match[1]);
}

/** Files and folders of packages that `file` imports, as paths from the root; other packages by their folder. */
function importsOf(root, file) {
  const specifiers = specifiersIn(root, file);
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith('.'))
      return [
        relative(root, resolve(root, dirname(file), specifier))
          .split(sep)
          .join('/'),
      ];
    const [, name] = /^(?:@fermata\/)?([^/]+)/.exec(specifier) ?? [];
    return (specifier.startsWith('@fermata/') || name === 'fermata') && LAYERS.packages.includes(name) ? [`packages/${name}`] : [];
  });
}

function layerProblems(file, targets) {
  return targets.flatMap((target) => {
    const problems = Object.entries(LAYERS).flatMap(([folder, row]) => {
      const [from, to] = [partBelow(folder, file), partBelow(folder, target)];
      if (to === undefined || from === undefined || from === to) return [];
      if (folder === 'packages' && !row.includes(from)) return [`${file}: the package ${from} has no place in LAYERS`];
      return row.includes(from) && !(row.indexOf(to) >= 0 && row.indexOf(to) < row.indexOf(from)) ? [`${file}: ${from} must not import ${to}`] : [];
    });
    const crosses = target.split('/').length > 2 && partBelow('packages', target) !== partBelow('packages', file);
    return crosses ? [...problems, `${file}: imports ${target} by path; import the package`] : problems;
  });
}

/** `packages`, `packages/machine/src/a.ts` -> `machine` */
function partBelow(folder, path) {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split('/')[0] : undefined;
}

function cycles(imports) {
  const problems = [];
  const done = new Set();
  const visit = (file, above) => {
    const at = above.indexOf(file);
    if (at >= 0) problems.push(`import cycle: ${[...above.slice(at), file].join(' -> ')}`);
    if (at >= 0 || done.has(file)) return;
    for (const target of imports.get(file) ?? []) visit(target, [...above, file]);
    done.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return problems;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = problemsIn(fileURLToPath(new URL('..', import.meta.url)));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
}

/** Which libraries a program may import, must find, and would not find. */
import type { CheckOptions } from '../check-options.ts';
import type { ImportFact, ProgramFacts } from '../facts.ts';
import type { Found } from './found.ts';

type Options = Pick<CheckOptions, 'language' | 'allowedLibraries' | 'requiredLibraries' | 'libraries' | 'ownModules'>;

/** Every program may import these. */
const ALWAYS = ['fermata', '__future__'];
const top = (module: string) => module.split('.')[0] as string;

/** Imports that `allowedLibraries` does not name. One whose failure the program catches is refused when it runs. */
export function importsFound(text: string, { imports }: ProgramFacts, { allowedLibraries, language, ownModules = [] }: Options): Found[] {
  if (!allowedLibraries) return [];
  const allowed = [...ALWAYS, ...allowedLibraries];
  const mayImport = ({ module }: ImportFact) =>
    allowed.some((name) => module === name || module.startsWith(`${name}.`) || name.startsWith(`${module}.`)) ||
    ownModules.includes(top(module)) ||
    // A module that the program itself writes.
    text.includes(`${top(module)}.py`);
  const listed = allowedLibraries.length > 0 ? [...allowedLibraries].sort().join(', ') : 'none';
  const instead = allowedLibraries.length > 0 ? 'use one of those, or have a tool do it' : 'write it without imports, or have a tool do it';
  return imports
    .filter((fact) => !mayImport(fact))
    .map(({ module, at, guarded }) => ({
      rule: 'library_not_allowed',
      severity: guarded && language === 'python' ? 'warning' : 'error',
      at,
      message: `This program may not import ${quoted(module)}; modules it may import: ${listed}: ${instead}.`,
    }));
}

/** Of `requiredLibraries`, what the image does not have. */
export function requiredFound({ requiredLibraries = [], libraries, ownModules = [] }: Options): Found[] {
  const missing = requiredLibraries.filter((name) => !libraries.includes(top(name)) && !ownModules.includes(top(name)));
  if (missing.length === 0) return [];
  const there = libraries.length > 0 ? `there is ${libraries.filter((name) => !name.startsWith('_')).join(', ')}` : 'the image has no libraries';
  return [
    { rule: 'library_missing', severity: 'error', at: 0, message: `The image does not have ${missing.map(quoted).join(', ')}: write it without, or have a tool do it; ${there}.` },
  ];
}

/** Imports that must fail, since there is no such module. */
export function missingFound({ imports }: ProgramFacts, { language, libraries, ownModules = [], allowedLibraries }: Options): Found[] {
  const isThere = ({ module }: ImportFact) => ALWAYS.includes(top(module)) || libraries.includes(top(module)) || ownModules.includes(top(module));
  const instead = language === 'python' ? 'only the standard library is here: use that, or have a tool do it' : 'there are no modules here: use the globals, or have a tool do it';
  return imports
    .filter((fact) => !fact.guarded && allowedLibraries === undefined && !isThere(fact))
    .map(({ module, at }) => ({ rule: 'library_missing', severity: 'warning', at, message: `There is no module ${quoted(module)}: ${instead}.` }));
}

const quoted = (name: string) => `'${name}'`;

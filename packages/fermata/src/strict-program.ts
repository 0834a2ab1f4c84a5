/**
 * What `strict` comes to where the program runs.
 *
 * JavaScript: `eval`, `Function` and the other ways to make code of text are gone before the program's first statement. Python:
 * the modules that reach around the check cannot be imported by the program, only by the libraries that it uses.
 */
import { librariesOf } from '@fermata/machine';
import type { Program } from '@fermata/protocol';
import { STRICT_NAMES } from '@fermata/tools';

const REFUSED = 'is refused: this task is strict';

/** One line, so that those of the program stay where they are. Its value is undefined, like that of a program without any. */
const PROLOGUE =
  `void function(){const refuse=(name)=>function(){throw new TypeError(name+${JSON.stringify(` ${REFUSED}`)})};` +
  `const made=refuse("Function"),set=(on,key,value)=>Object.defineProperty(on,key,{value,writable:true,configurable:true});` +
  `made.prototype=Object.getPrototypeOf(made);` +
  `for(const one of [function(){},async function(){},function*(){},async function*(){}])set(Object.getPrototypeOf(one),"constructor",made);` +
  `set(globalThis,"Function",made);set(globalThis,"eval",refuse("eval"))}();`;

/** What stands before a strict program in JavaScript; a directive at its head stays one. */
export function strictPrologue(code: string): string {
  return /^\s*(['"])use strict\1/.test(code) ? `"use strict";${PROLOGUE}` : PROLOGUE;
}

/** What a strict program in Python may import: what its task allows, without what is refused. */
export function strictLibraries({ allowedLibraries = [...librariesOf('cpython')] }: Pick<Program, 'allowedLibraries'>): string[] {
  return allowedLibraries.filter((name) => !STRICT_NAMES.modules.has(name.split('.')[0] as string));
}

/** An error of a strict program by its own name. */
export function asStrict<E extends { code: string; message: string }>(error: E): E {
  if (error.code === 'guest_error' && error.message.endsWith(REFUSED)) return { ...error, code: 'policy_violation' };
  if (error.code !== 'library_not_allowed') return error;
  const [, module] = /may not import '([^']*)'/.exec(error.message) ?? [];
  if (module === undefined || !STRICT_NAMES.modules.has(module.split('.')[0] as string)) return error;
  return { ...error, message: `ImportError: this program may not import '${module}': its task is strict` };
}

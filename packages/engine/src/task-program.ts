/** The program of a task, as a machine is given it. */
import {
  CALL_PROGRAM,
  FermataError,
  fromWire,
  type Program,
  type ProgramRequest,
  programRequest,
  type Store,
  type TaskRequest,
  type TaskRow,
  type ToolName,
} from '@fermata/protocol';
import { builtInNames } from './built-in-calls.ts';
import type { CheckableTool, EngineTools, PreparedProgram } from './engine-options.ts';
import { toolsInCode } from './tools-in-code.ts';

/** The request with the program that the task runs. It is asked for only once there is one. */
export function knownProgram(row: TaskRow): ProgramRequest {
  const program = programRequest(row);
  if (!program) throw new FermataError('invalid_state', `the task ${row.taskId} has no program yet`);
  return program;
}

/** Throws `not_found` where a file that it is to have is gone. */
export async function programOf(store: Store, tools: EngineTools, row: TaskRow): Promise<Program> {
  const { tenant } = row;
  const request = knownProgram(row);
  const { language, code, toolCall, input, stdin, fileName, files = [], allowedLibraries, sharedInterpreter } = request;
  await tools.ready(tenant);
  const loaded = await Promise.all(files.map(async ({ path, blob }) => ({ path, data: await contents(store, blob) })));
  return {
    language,
    code: toolCall ? CALL_PROGRAM : code,
    input: toolCall ? fromWire(toolCall) : input === undefined ? undefined : fromWire(input),
    tools: toldTools(request, withBuiltIn(tools, tools.names(tenant, request))),
    ...(stdin === undefined ? {} : { stdin: fromWire(stdin) as NonNullable<Program['stdin']> }),
    ...(fileName === undefined ? {} : { file: fileName }),
    ...(loaded.length === 0 ? {} : { files: loaded }),
    ...(allowedLibraries === undefined ? {} : { allowedLibraries }),
    ...(sharedInterpreter ? { shared: true } : {}),
  };
}

/** The program with its source as a machine takes it. */
export function withSource(program: Program, { code, allowedLibraries }: PreparedProgram): Program {
  return { ...program, code, ...(allowedLibraries === undefined ? {} : { allowedLibraries }) };
}

/** What the check of a program must know of the tools that it can call. */
export function checkableTools(tools: EngineTools, tenant: string, request: TaskRequest): CheckableTool[] {
  const described = new Map(tools.describe(tenant, request).map(({ name, parameters }) => [name, parameters as Record<string, unknown>]));
  return withBuiltIn(tools, tools.names(tenant, request)).map(({ name, parameters: names }) => {
    const parameters = described.get(name);
    return { name, names, ...(parameters ? { parameters, check: (args: never) => tools.find(tenant, name, request)?.check(args) } : {}) };
  });
}

async function contents(store: Store, blob: string): Promise<Uint8Array> {
  const data = await store.blob(blob);
  if (!data) throw new FermataError('not_found', 'a file that the task was given is not there any more');
  return data;
}

/** Files and earlier tasks of a session hold code that is not seen here. */
function toldTools({ code, toolCall, files = [], sharedInterpreter }: ProgramRequest, all: readonly ToolName[]): ToolName[] {
  if (toolCall) {
    const called = all.filter(({ name }) => name === toolCall.name);
    return called.length > 0 ? called : [...all];
  }
  return [...(files.length > 0 || sharedInterpreter ? all : toolsInCode(code, all))];
}

/** The same list for the same names, which many tasks are told of. */
function withBuiltIn(tools: EngineTools, names: readonly ToolName[]): readonly ToolName[] {
  const known = whole.get(names);
  if (known) return known;
  const taken = new Set(names.map(({ name }) => name));
  const all = [...names, ...builtInNames(tools).filter(({ name }) => !taken.has(name))];
  whole.set(names, all);
  return all;
}
const whole = new WeakMap<readonly ToolName[], readonly ToolName[]>();

/** The check of a program before it runs, in the words of its user's own source. */
import { librariesOf, withoutFence } from '@fermata/machine';
import { type Host, imageOfLanguage, type Language, type NetworkAccess, type Program, type ProgramRequest } from '@fermata/protocol';
import { type CodeConstraints, isWorthChecking, parameterNames, type Tool } from '@fermata/tools';
import type { CheckedTool, Finding } from '@fermata/tools/check';
import { pythonSyntax } from './python-syntax.ts';
import { checkableSource } from './source.ts';
import type { TaskError } from './task-result.ts';

export interface CheckableProgram extends CodeConstraints, Pick<Program, 'language' | 'code'> {
  /** Paths of the files that it is given. */
  files?: readonly { path: string }[] | undefined;
  /** What it may reach; tools of the network say the same. */
  network?: NetworkAccess | undefined;
}

export interface CheckedTask {
  findings: Finding[];
  /** Set where the program is not to be run. */
  fault?: TaskError;
}

/** Everything that is found. `tools`: those that the program can call; absent: its calls are not looked at. */
export async function findingsOf(program: CheckableProgram, tools?: readonly CheckedTool[]): Promise<Finding[]> {
  const { language, files = [], allowedLibraries, requiredLibraries, blockedCommands, strict } = program;
  const source = checkableSource(program);
  if ('error' in source) {
    const { message, line = 1, column = 1 } = source.error;
    return [{ rule: 'syntax_error', severity: 'error', line, column, message }];
  }
  const { checkProgram } = await import('@fermata/tools/check');
  const findings = await checkProgram(source.code, {
    language: language === 'python' ? 'python' : 'javascript',
    libraries: librariesOf(imageOfLanguage[language]),
    ownModules: files.flatMap(({ path }) => /^\/work\/([^/.]+)(?:\.py$|\/)/.exec(path)?.[1] ?? []),
    network: program.network !== undefined || Boolean(tools?.some(({ name }) => name === 'network.get')),
    ...(tools ? { tools } : {}),
    ...(allowedLibraries ? { allowedLibraries } : {}),
    ...(requiredLibraries ? { requiredLibraries } : {}),
    ...(blockedCommands ? { blockedCommands } : {}),
    ...(strict ? { strict } : {}),
  });
  const { original } = source;
  return original ? findings.map((finding) => ({ ...finding, ...original(finding.line, finding.column) })) : findings;
}

/**
 * What a program is found to be in full, for who asks. `host`: where Python itself is asked whether it can parse the program,
 * with whose grammar the check's own does not always agree.
 */
export async function checkInFull(host: Host, program: CheckableProgram, tools?: readonly CheckedTool[]): Promise<Finding[]> {
  const findings = await findingsOf(program, tools);
  const fault = program.language === 'python' ? await pythonSyntax(host, withoutFence(program.code)) : undefined;
  if (fault === undefined) return findings;
  const others = findings.filter(({ rule }) => rule !== 'syntax_error');
  if (fault === null) return others;
  const { message, ...place } = fault;
  return [{ rule: 'syntax_error', severity: 'error', ...place, message: `SyntaxError: ${message}` }, ...others];
}

/** Whether the program would be run, and why not. */
export function reportOf(findings: Finding[]): { ok: boolean; findings: Finding[] } {
  return { ok: findings.every(({ severity }) => severity !== 'error'), findings };
}

/** Loads what the check of programs in this language needs, so that the first one takes no longer than others. */
export async function prepareCheck(language: Language): Promise<void> {
  await findingsOf({ language, code: '' });
}

/**
 * What is found in the program of a task, or undefined where nothing could be. Whether it parses, and which calls it has not
 * awaited, its machine tells, which knows better.
 */
export function checkTask(program: CheckableProgram, tools: () => readonly CheckedTool[]): Promise<CheckedTask> | undefined {
  if (!isWorthChecking(program.code, program)) return undefined;
  return findingsOf(program, tools()).then((all) => {
    const findings = all.filter(({ rule }) => rule !== 'syntax_error' && rule !== 'not_awaited');
    const error = findings.find(({ severity }) => severity === 'error');
    return { findings, ...(error ? { fault: faultOf(error, program.language) } : {}) };
  });
}

/** The program of a task; one call is a program that makes it. */
export function checkableTask(request: ProgramRequest): CheckableProgram {
  if (!request.toolCall) return request;
  const { name, arguments: args } = request.toolCall;
  return { language: 'javascript', code: `await tools[${JSON.stringify(name)}](${JSON.stringify(args)});` };
}

/** A tool as the check looks at it. */
export function checkable(tool: Tool): CheckedTool {
  const { name, parameters, check } = tool;
  return { name, names: parameterNames(tool), parameters, check };
}

/** An import is refused by the same name whenever that happens. */
function faultOf({ rule, message, line, column }: Finding, language: Language): TaskError {
  const name = rule === 'library_not_allowed' && language === 'python' ? { name: 'ImportError' } : {};
  return { code: rule as TaskError['code'], ...name, message, line, column };
}

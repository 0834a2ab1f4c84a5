/** The check of a program before it runs, in the words of its user's own source. */
import { librariesOf } from '@fermata/machine';
import { imageOfLanguage, type Program } from '@fermata/protocol';
import { type CodeConstraints, isWorthChecking, parameterNames, type Tool } from '@fermata/tools';
import type { CheckedTool, Finding } from '@fermata/tools/check';
import { checkableSource } from './source.ts';
import type { TaskError } from './task-result.ts';

export interface CheckableProgram extends CodeConstraints, Pick<Program, 'language' | 'code'> {
  /** Paths of the files that it is given. */
  files?: readonly { path: string }[] | undefined;
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
 * What is found in the program of a task, or undefined where nothing could be. Whether it parses its machine says, which knows
 * better.
 */
export function checkTask(program: CheckableProgram, tools: () => readonly CheckedTool[]): Promise<CheckedTask> | undefined {
  if (!isWorthChecking(program.code, program)) return undefined;
  return findingsOf(program, tools()).then((all) => {
    const findings = all.filter(({ rule }) => rule !== 'syntax_error');
    const error = findings.find(({ severity }) => severity === 'error');
    return { findings, ...(error ? { fault: faultOf(error) } : {}) };
  });
}

/** A tool as the check looks at it. */
export function checkable(tool: Tool): CheckedTool {
  const { name, parameters, check } = tool;
  return { name, names: parameterNames(tool), parameters, check };
}

function faultOf({ rule, message, line, column }: Finding): TaskError {
  return { code: rule as TaskError['code'], message, line, column };
}

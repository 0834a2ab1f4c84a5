/** Calls of tools that do not exist, or whose arguments cannot fit. */
import { nearestName } from '@fermata/protocol';
import type { CheckedTool } from '../check-options.ts';
import type { ProgramFacts, ToolCallFact } from '../facts.ts';
import { argumentFault } from './arguments.ts';
import type { Found } from './found.ts';

type Language = 'python' | 'javascript';

/** Warnings where the program may be prepared for the failure. */
export function toolsFound({ toolCalls }: ProgramFacts, tools: readonly CheckedTool[], language: Language): Found[] {
  return toolCalls.flatMap((call): Found[] => {
    const severity = call.guarded ? 'warning' : 'error';
    const tool = toolNamed(call.path, tools, language);
    if (!tool) return [{ rule: 'unknown_tool', severity, at: call.at, message: unknownTool(call, tools) }];
    const fault = argumentFault(call, tool, language);
    return fault === undefined ? [] : [{ rule: 'invalid_arguments', severity, at: call.at, message: fault }];
  });
}

/** By its name, or by its name with underscores for what no identifier may have. */
function toolNamed(path: string, tools: readonly CheckedTool[], language: Language): CheckedTool | undefined {
  const exact = tools.find(({ name }) => name === path);
  if (exact) return exact;
  const spelled = (name: string) => name.replace(language === 'python' ? /[^\p{L}\p{N}_]/gu : /[^\w$.]/g, '_');
  return tools.find(({ name }) => spelled(name) === spelled(path));
}

function unknownTool({ path }: ToolCallFact, tools: readonly CheckedTool[]): string {
  const names = tools.map(({ name }) => name);
  if (names.length === 0) return `There is no tool named '${path}', and this program has no tools: write it without.`;
  const inside = names.filter((name) => name.startsWith(`${path}.`));
  const near = inside[0] ?? nearestName(path, names) ?? names.find((name) => name.split('.').at(-1) === path.split('.').at(-1));
  if (near !== undefined) return `There is no tool named '${path}': did you mean '${near}'?`;
  const listed = names.slice(0, 20).join(', ');
  return `There is no tool named '${path}': call one of ${listed}${names.length > 20 ? ', ...' : ''}.`;
}

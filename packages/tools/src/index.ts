/** What the package `@fermata/tools` offers: tools as values, ready to be given to a program. The registry is `@fermata/tools/registry`. */
export { type CodeConstraints, isWorthChecking } from './check/is-worth-checking.ts';
export { STRICT_NAMES } from './check/refused.ts';
export type { JsonArguments } from './json-arguments.ts';
export { nameFits } from './policy/conditions.ts';
export { type ExplainedVerdict, explainCall, type LookedAt } from './policy/explain.ts';
export { type JudgedCall, judgeCall, type PlacedRule, type PolicyLayer, type PolicyVerdict } from './policy/policy.ts';
export { checkRules } from './policy/rules.ts';
export {
  defineTool,
  parameterNames,
  type Tool,
  type ToolArguments,
  type ToolCallInfo,
  type ToolDefinition,
  ToolError,
  type ToolParameters,
  toolsByName,
} from './tool.ts';
export { OutcomeUnknown, type ToolGate, type ToolLimits } from './tool-limits.ts';
export type { StandardSchema } from './tool-schema.ts';
export { findingTools, searchTools } from './tool-search.ts';

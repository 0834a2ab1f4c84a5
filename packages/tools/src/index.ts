/** What the package `@fermata/tools` offers: tools as values, the registry of each tenant's tools, and the sources they come from. */
export type { JsonArguments } from './json-arguments.ts';
export { type AddressGuard, type AddressGuardOptions, AddressRefused, createAddressGuard, isPublic } from './net/address-guard.ts';
export { type GuardedRequest, type GuardedResponse, guardedRequest, RequestError, type RequestFault } from './net/guarded-request.ts';
export { judgeCall, nameFits, type PolicyVerdict } from './policy/policy.ts';
export { createToolRegistry, type RegisteredTool, type ToolKind, type ToolRegistry, type ToolRegistryOptions } from './registry.ts';
export type { ToolProgram } from './sources/code.ts';
export { pythonStubs } from './stubs/python.ts';
export { typescriptStubs } from './stubs/typescript.ts';
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

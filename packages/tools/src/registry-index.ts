/**
 * What `@fermata/tools/registry` offers: the tools of each tenant, the sources they come from, stubs of them, and requests to
 * addresses that users chose. Apart, because a program with tools of its own needs none of it.
 */
export { type AddressGuard, type AddressGuardOptions, AddressRefused, createAddressGuard, isPublic } from './net/address-guard.ts';
export { type GuardedRequest, type GuardedResponse, guardedRequest, RequestError, type RequestFault } from './net/guarded-request.ts';
export { type HostRules, hostRules } from './net/host-rules.ts';
export { type AddedHeader, NETWORK_GET, NETWORK_SEND, type NetworkOptions, networkTools } from './net/network-tools.ts';
export { type OpenToolSources, type OpenToolSourcesOptions, openToolSources } from './open-tool-sources.ts';
export { type PastCall, PolicyBook, type PolicyBookOptions } from './policy/policy-book.ts';
export { createToolRegistry, type RegisteredTool, type ToolKind, type ToolRegistry, type ToolRegistryOptions } from './registry.ts';
export type { ToolProgram } from './sources/code.ts';
export type { LiveSource, SourceState } from './sources/live-source.ts';
export {
  type McpOAuth,
  type McpSourceOptions,
  type OpenApiAuth,
  type OpenApiSourceOptions,
  sourceSpecs,
  type ToolSourcesOptions,
  toolSourcesShape,
} from './sources/source-options.ts';
export { type PromptTools, toolsForPrompt } from './stubs/prompt.ts';
export { pythonStubs } from './stubs/python.ts';
export { typescriptStubs } from './stubs/typescript.ts';

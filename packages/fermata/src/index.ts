/** What the package `fermata` offers: a Fermata, its tasks and their results, tools, values and errors. */
export type { CallView, Decision as CallDecision, Engine, TaskFilter, TaskView, WaitingCall } from '@fermata/engine';
export type { ModelOptions, ModelsOptions, ProviderKind, ProviderOptions, TokenPrice } from '@fermata/models';
export type { Inspection, Language, Limits, LimitsInput, Model, Models, SealKey, StackFrame, Value, ValueRecord } from '@fermata/protocol';
export { ERROR_CODES, type ErrorCode, FermataError, fromWire, toWire } from '@fermata/protocol';
export { defineTool, type Tool, type ToolArguments, type ToolCallInfo, type ToolDefinition, ToolError, type ToolParameters } from '@fermata/tools';
export type { CheckRule, Finding } from '@fermata/tools/check';
export type { McpSourceOptions, OpenApiAuth, OpenApiSourceOptions, OpenToolSources, OpenToolSourcesOptions, ToolSourcesOptions } from '@fermata/tools/registry';
export { type CheckProgramOptions, type CheckReport, createFermata, type Fermata, type FermataUsage } from './fermata.ts';
export type { CodeOptions, FermataOptions, RestoreOptions, SnapshotOptions, StartOptions, ToolCallOptions } from './fermata-options.ts';
export { type Equipment, type OpenEngine, type OpenEngineOptions, openEngine } from './open-engine.ts';
export { openToolSources } from './open-tool-sources.ts';
export type { Step, Task } from './task.ts';
export type { TaskEvent } from './task-event.ts';
export type {
  CancelledResult,
  EndedResult,
  FailedResult,
  LoggedCall,
  ResourcesUsed,
  StoppedResult,
  SucceededResult,
  TaskError,
  TaskFacts,
  TaskResult,
  TaskStatus,
  WaitingFor,
} from './task-result.ts';
export type { Approver, Decision } from './tool-runner.ts';

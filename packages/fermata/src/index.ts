/** What the package `fermata` offers: a Fermata, its tasks and their results, tools, values and errors. */
export type { SealKey } from '@fermata/machine';
export type { Inspection, Language, Limits, LimitsInput, StackFrame, Value, ValueRecord } from '@fermata/protocol';
export { ERROR_CODES, type ErrorCode, FermataError, fromWire, toWire } from '@fermata/protocol';
export { type CodeOptions, createFermata, type Fermata, type FermataOptions, type RestoreOptions, type StartOptions, type ToolCallOptions } from './fermata.ts';
export type { Step, Task } from './task.ts';
export type { LoggedCall, ResourcesUsed, TaskError, TaskEvent, TaskResult, TaskStatus, WaitingFor } from './task-result.ts';
export { defineTool, type Tool, type ToolArguments, type ToolCallInfo, type ToolDefinition, ToolError, type ToolParameters } from './tool.ts';
export type { Approver, Decision } from './tool-runner.ts';

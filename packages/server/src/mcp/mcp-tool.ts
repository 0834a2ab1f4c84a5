/** A tool of the MCP server: what a model is told of it, and what it does by the REST API. */
import type { FermataClient } from '@fermata/client';
import type { CreateTaskWire } from '@fermata/protocol/wire';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import type { Scope } from '../auth/caller.ts';

/** What the SDK tells of a request. */
export type McpExtra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** One call of a tool by an MCP client. */
export interface McpRequest {
  client: FermataClient;
  may: (scope: Scope) => boolean;
  /** Aborts when the client takes the request back, and when its connection goes. */
  signal: AbortSignal;
  /** Once `signal` has aborted: whether the client took it back, and is still there. */
  isWithdrawn: () => boolean;
  /** Tells a client that has asked for it how far the work is. */
  tell: ((message: string) => void) | undefined;
  /** Asks the user whether a call may be made, where the client can ask; undefined is no decision. */
  ask: ((question: string, signal: AbortSignal) => Promise<UserDecision | undefined>) | undefined;
  /** What whoever owns the tools of a task adds to it before it is submitted. */
  equip: (task: NewTask) => Promise<NewTask>;
}

export type NewTask = CreateTaskWire & { task_id: string };
export type UserDecision = { approve: true } | { approve: false; reason: string };

/** What a tool answers: as a value that fits its output schema, and as a text. */
export interface Told {
  value: Record<string, unknown>;
  text: string;
  /** The program failed: what it was called for did not happen. */
  failed?: boolean;
  /** Files and texts that the client can read as resources. */
  links?: { uri: string; name: string; mimeType: string }[];
}

export interface McpTool {
  name: string;
  title: string;
  description: string;
  /** What a key must be allowed to do to be shown it. */
  scope: Scope;
  /** It changes nothing. */
  readOnly?: boolean;
  /** It may undo or overwrite what cannot be had back. */
  destructive?: boolean;
  /** To call it twice is to call it once. */
  idempotent?: boolean;
  /** What it does may reach beyond Fermata. */
  openWorld?: boolean;
  input: z.ZodObject;
  output: z.ZodObject;
  perform(args: never, request: McpRequest): Promise<Told>;
}

/** The tool, with the arguments of `perform` as its input schema lets them through. */
export function mcpTool<I extends z.ZodObject>(tool: Omit<McpTool, 'input' | 'perform'> & { input: I; perform(args: z.output<I>, request: McpRequest): Promise<Told> }): McpTool {
  return tool;
}

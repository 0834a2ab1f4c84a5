/**
 * Chats that call tools, as tasks: a request without results makes one, one with results goes on with the task that made the calls.
 *
 * The server keeps nothing besides the task: ids of calls name it, its journal says what was answered before. So requests may come
 * late, twice, in any order of results and after a restart. All results of a request are checked before any of them is recorded.
 */
import type { CallView, TaskView } from '@fermata/engine';
import { FermataError, type TaskRef, type TaskRequest } from '@fermata/protocol';
import { withSafeNames } from '@fermata/tools/registry';
import type { Caller } from '../auth/caller.ts';
import type { ServerContext } from '../server-options.ts';
import type { ChatFunction, ChatRequest } from './chat-request.ts';
import { conversationOf, type SentResult } from './conversation.ts';
import { ChatRefusal } from './openai-error.ts';
import { CHAT_TASK, newChatTaskId, taskOfToolCall, toolCallIdOf } from './tool-call-id.ts';
import { decisionOf, isSettledBy } from './tool-result.ts';

/** Programs of chats call tools and little else: one language keeps prompts short. */
const LANGUAGE = 'javascript';

/** Where a request stands: its task, and the calls whose results it brings, by their ids in the task. */
export interface ChatStand {
  ref: TaskRef;
  answered: ReadonlySet<string>;
}

/** `model`: by its full name. */
export function taskRequestOf({ messages, metadata }: ChatRequest, functions: readonly ChatFunction[], model: string): TaskRequest {
  const conversation = conversationOf(messages);
  if (conversation.at(-1)?.role !== 'user') {
    throw new ChatRefusal('messages: the last one is to be answered, so it must be of the user, or the result of a call', { param: 'messages' });
  }
  return {
    ...{ language: LANGUAGE, messages: conversation, model: { name: model } },
    // A request says itself what may be called.
    ...{ tools: [], clientTools: withSafeNames(functions) },
    ...(metadata ? { metadata } : {}),
  };
}

/** A new task; with the same key the one that it made before. */
export async function beginChat({ engine, idempotency }: ServerContext, { tenant, by }: Caller, request: TaskRequest, key: string | undefined): Promise<ChatStand> {
  const place = { path: '/v1/chat/completions', prefix: CHAT_TASK, chosen: undefined };
  const { taskId } = await idempotency.once(tenant, key, place, (id = newChatTaskId()) => engine.submit(tenant, request, { taskId: id, by }));
  return { ref: { tenant, taskId }, answered: new Set() };
}

/** Records results. Throws {@link ChatRefusal} where one belongs to no call, or is another than was recorded. */
export async function continueChat({ engine }: ServerContext, { tenant, by }: Caller, results: readonly SentResult[]): Promise<ChatStand> {
  const taskId = theTaskOf(results);
  const ref = { tenant, taskId };
  const calls = await callsOf(engine, ref, results);
  const byId = new Map(calls.map((call) => [toolCallIdOf(taskId, call.callId), call]));
  const brought = results.map((sent) => {
    const call = byId.get(sent.toolCallId);
    if (!call) throw unknownCall(sent);
    return { sent, call, answer: decisionOf(sent.content) };
  });
  const fresh = brought.filter(({ sent, call, answer }) => isFresh(sent, call, answer));
  const firsts = new Map(fresh.map(({ sent }) => [sent.toolCallId, sent]));
  for (const { sent } of fresh) if (firsts.get(sent.toolCallId)?.content !== sent.content) throw otherResult(sent, 'this request');
  for (const { sent, call, answer } of fresh) {
    try {
      await engine.decide(ref, call.callId, answer, by);
    } catch (error) {
      if (!(error instanceof FermataError)) throw error;
      if (error.code === 'conflict') throw otherResult(sent, 'another request', error);
      // The program has failed by the result before this one, and waits no more.
      if (error.code !== 'invalid_state') throw error;
    }
  }
  return { ref, answered: new Set(brought.map(({ call }) => call.callId)) };
}

/** What the client is to carry out, as it calls it; `arguments`: in wire form. */
export function toolCallOf({ taskId, request }: TaskView, { callId, tool, arguments: args, editedArguments }: CallView): { id: string; name: string; arguments: unknown } {
  const own = request.clientTools?.find(({ name }) => name === tool);
  return { id: toolCallIdOf(taskId, callId), name: own?.originalName ?? tool, arguments: editedArguments ?? args };
}

/** Whether it is still to be recorded. */
function isFresh(sent: SentResult, call: CallView, answer: ReturnType<typeof decisionOf>): boolean {
  if (call.status === 'waiting' && call.waitsFor === 'client_tool') return true;
  // Nobody asks for it any more: its program has failed, or the task was ended.
  if (call.status === 'abandoned') return false;
  if (call.status !== 'settled') throw unknownCall(sent);
  if (isSettledBy(call, answer)) return false;
  throw otherResult(sent, call.by ?? 'somebody');
}

function theTaskOf(results: readonly SentResult[]): string {
  const tasks = results.map((sent) => {
    const taskId = taskOfToolCall(sent.toolCallId);
    if (taskId === undefined) throw unknownCall(sent);
    return taskId;
  });
  const other = tasks.findIndex((taskId) => taskId !== tasks[0]);
  if (other >= 0) {
    throw new ChatRefusal('messages: results after the last message of the user belong to calls of two different answers', {
      ...{ param: `messages[${results[other]?.index}].tool_call_id`, code: 'mixed_tool_calls' },
    });
  }
  return tasks[0] as string;
}

async function callsOf(engine: ServerContext['engine'], ref: TaskRef, results: readonly SentResult[]): Promise<CallView[]> {
  try {
    return await engine.calls(ref);
  } catch (error) {
    throw error instanceof FermataError && error.code === 'not_found' ? unknownCall(results[0] as SentResult) : error;
  }
}

function unknownCall({ toolCallId, index }: SentResult): ChatRefusal {
  return new ChatRefusal(`messages[${index}]: there is no call ${JSON.stringify(toolCallId.slice(0, 100))} that waits for a result of yours`, {
    ...{ param: `messages[${index}].tool_call_id`, code: 'unknown_tool_call' },
  });
}

function otherResult({ toolCallId, index }: SentResult, by: string, cause?: unknown): ChatRefusal {
  return new ChatRefusal(`messages[${index}]: the call ${toolCallId} has another result already, recorded by ${by}; the first one counts`, {
    ...{ status: 409, param: `messages[${index}].content`, code: 'tool_result_conflict', cause },
  });
}

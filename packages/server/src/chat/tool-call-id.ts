/**
 * Ids of calls as a chat's client is told them: each names its task and its call, so that the server keeps nothing besides the task.
 *
 * The id of such a task is 128 random bits (or follows from the Idempotency-Key), and is looked up among those of the tenant alone.
 */
import { randomBytes } from 'node:crypto';

export const CHAT_TASK = 'chat';
const TASK_ID = /^chat_([0-9a-f]{32})$/;
const TOOL_CALL_ID = /^call_([A-Za-z0-9_-]{22})([0-9a-f]{12})$/;
/** Of the digest in the id of a call. */
const CALL_DIGITS = 12;

export const newChatTaskId = () => `${CHAT_TASK}_${randomBytes(16).toString('hex')}`;

export function toolCallIdOf(taskId: string, callId: string): string {
  const [, hex = ''] = TASK_ID.exec(taskId) ?? [];
  return `call_${Buffer.from(hex, 'hex').toString('base64url')}${digestOf(callId)}`;
}

/** The task that it names; undefined for what is no such id. */
export function taskOfToolCall(toolCallId: string): string | undefined {
  const [, task] = TOOL_CALL_ID.exec(toolCallId) ?? [];
  return task === undefined ? undefined : `${CHAT_TASK}_${Buffer.from(task, 'base64url').toString('hex')}`;
}

function digestOf(callId: string): string {
  return callId.slice('call_'.length, 'call_'.length + CALL_DIGITS);
}

/**
 * Approvals inside of programs as approvals of the AI SDK. Where the last thing in a conversation is a program that waits, the model
 * has nothing to say; this middleware speaks in its place and calls the code tool to go on, which needs approval. So the SDK asks by a
 * `tool-approval-request` that shows the call, an app answers as it answers all of them, and no model is paid for it.
 */
import { generateId, type LanguageModelMiddleware } from 'ai';
import { type Continuing, isContinuing, type ResultPart, waitingOf } from './ai-sdk-messages.ts';

type Wrap = Parameters<NonNullable<LanguageModelMiddleware['wrapGenerate']>>[0];
type Prompt = Wrap['params']['prompt'];
type Generated = Awaited<ReturnType<Wrap['doGenerate']>>;

const NOTHING = { inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 0, text: 0, reasoning: 0 } };
const finishReason = { unified: 'tool-calls', raw: 'program' } as const;

/** For `wrapLanguageModel`: programs of a code tool go on by the SDK's own approvals. */
export function codeApprovals(): LanguageModelMiddleware {
  return {
    specificationVersion: 'v4',
    async wrapGenerate({ doGenerate, params }) {
      const content = callsToGoOn(params.prompt);
      return content.length > 0 ? { content, finishReason, usage: NOTHING, warnings: [] } : doGenerate();
    },
    async wrapStream({ doStream, params }) {
      const content = callsToGoOn(params.prompt);
      if (content.length === 0) return doStream();
      return { stream: ReadableStream.from([{ type: 'stream-start' as const, warnings: [] }, ...content, { type: 'finish' as const, finishReason, usage: NOTHING }]) };
    },
  };
}

type ToolCall = Extract<Generated['content'][number], { type: 'tool-call' }>;

/** One for each program that waits for an approval: of one call, as the SDK asks for one at a time. */
function callsToGoOn(prompt: Prompt): ToolCall[] {
  const last = prompt.at(-1);
  if (last?.role !== 'tool') return [];
  return last.content.flatMap((part) => {
    if (part.type !== 'tool-result') return [];
    const input = part.output.type === 'execution-denied' ? denied(prompt, part.toolCallId, part.output.reason) : asked(part as ResultPart);
    return input ? [{ type: 'tool-call' as const, toolCallId: generateId(), toolName: part.toolName, input: JSON.stringify(input) }] : [];
  });
}

function asked(part: ResultPart): Continuing | undefined {
  const call = waitingOf(part).find(({ kind }) => kind === 'approval');
  return call && { continue: part.toolCallId, call: { callId: call.callId, tool: call.tool, arguments: call.arguments } };
}

/** The program is told of it, and may do without. */
function denied(prompt: Prompt, toolCallId: string, reason = ''): Continuing | undefined {
  const calls = prompt.flatMap((message) => (message.role === 'assistant' ? message.content.filter((part) => part.type === 'tool-call') : []));
  const input = calls.find((call) => call.toolCallId === toolCallId)?.input;
  return isContinuing(input) && input.denied === undefined ? { continue: input.continue, call: input.call, denied: reason } : undefined;
}

/** What a model is told of a task, gathered from its request, its tools and the tasks of its session before it. */
import { type AuthorFacts, cutText, type EarlierTask } from '@fermata/models/author';
import { ENDED, type Limits, programRequest, type Store, type TaskRow } from '@fermata/protocol';
import type { EngineTools } from '../engine-options.ts';

const MOST_EARLIER = 5;
const MOST_ASKED_CHARS = 500;
const MOST_CAME_CHARS = 1_000;

export async function factsOfTask(store: Store, tools: EngineTools, limits: Limits, row: TaskRow): Promise<AuthorFacts> {
  const { tenant, request } = row;
  const { instruction, messages, language, allowedLibraries, requiredLibraries, blockedCommands, strict, network, input, stdin, files = [], sharedInterpreter = false } = request;
  await tools.ready(tenant);
  const described = tools.describe(tenant, request.tools).map(({ name, description, parameters, result }) => ({
    ...{ name, description, parameters: parameters as Record<string, unknown> },
    ...(result ? { result: result as Record<string, unknown> } : {}),
  }));
  return {
    ...{ instruction, messages, language, tools: described, allowedLibraries, requiredLibraries, blockedCommands, strict, network, limits, input, stdin, sharedInterpreter },
    files: files.map(({ path }) => path),
    earlier: await earlierTasks(store, row),
  };
}

async function earlierTasks(store: Store, { tenant, taskId, sessionId, createdAt }: TaskRow): Promise<EarlierTask[]> {
  if (sessionId === null) return [];
  const { items } = await store.tasks({ tenant, sessionId, status: ENDED, limit: 2 * MOST_EARLIER });
  const before = items.filter((row) => row.taskId !== taskId && row.createdAt <= createdAt).slice(0, MOST_EARLIER);
  return before.reverse().map((row) => ({ asked: askedOf(row), came: cutText(cameOf(row), MOST_CAME_CHARS) }));
}

function askedOf(row: TaskRow): string {
  const { instruction, messages, toolCall } = row.request;
  if (instruction !== undefined) return cutText(instruction, MOST_ASKED_CHARS);
  if (messages) return cutText(messages.at(-1)?.content ?? '', MOST_ASKED_CHARS);
  if (toolCall) return `call of ${toolCall.name}`;
  const program = programRequest(row);
  return `program in ${program?.language}: ${cutText(program?.code ?? '', MOST_ASKED_CHARS)}`;
}

function cameOf({ status, error, answer, output }: TaskRow): string {
  if (status !== 'succeeded') return error ? `failed: ${error.message}` : status;
  return answer === null ? `result: ${JSON.stringify(output ?? null)}` : `${answer}\n  result: ${JSON.stringify(output ?? null)}`;
}

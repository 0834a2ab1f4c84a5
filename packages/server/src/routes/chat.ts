/** The OpenAI-compatible endpoint: chat completions, with tools as tasks and without as they are, and the models. */
import { createHash, randomBytes } from 'node:crypto';
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { needs } from '../auth/authenticate.ts';
import { withPlace } from '../body-checks.ts';
import { type AnswerOptions, chatAnswer, turnEnd } from '../chat/chat-answer.ts';
import { chatModel } from '../chat/chat-models.ts';
import { type ChatRequest, chatRequestSchema, functionsOf, refuseUnsupported, stopsOf } from '../chat/chat-request.ts';
import { beginChat, type ChatStand, continueChat, taskRequestOf } from '../chat/chat-task.ts';
import { completionOf, completionSchema } from '../chat/completion.ts';
import { sentResults } from '../chat/conversation.ts';
import { ChatRefusal, isOurFault, openaiErrorResponse, openaiErrorSchema } from '../chat/openai-error.ts';
import { plainChat } from '../chat/plain-chat.ts';
import { type StreamOptions, streamAnswer } from '../chat/stream-answer.ts';
import { taskText } from '../chat/task-text.ts';
import { body, idempotencyHeaders, json } from '../new-routes.ts';
import type { Env, ServerContext } from '../server-options.ts';
import { mustAccept } from './task-bodies.ts';

const tags = ['OpenAI-compatible'];

/** Answers that are errors, by status. */
const errors = Object.fromEntries(
  [400, 401, 403, 404, 409, 413, 415, 429, 500, 502, 503].map((status) => [status, json(openaiErrorSchema, "An error, in OpenAI's form")]),
) as Record<never, never>;

const complete = createRoute({
  method: 'post',
  path: '/chat/completions',
  tags,
  summary: 'Answer a chat; with tools, by a program of the model that calls them',
  description: 'With `stream` the answer is server-sent events, each a `chat.completion.chunk`. The header `fermata-task-id` names the task of a chat with tools.',
  ...needs('run'),
  request: { body: body(chatRequestSchema), headers: idempotencyHeaders },
  responses: {
    200: { description: 'The answer', content: { 'application/json': { schema: completionSchema }, 'text/event-stream': { schema: z.string() } } },
    ...errors,
  },
});

const modelSchema = z.object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() });
const list = createRoute({
  method: 'get',
  path: '/models',
  tags,
  summary: 'Models that a chat can ask for',
  ...needs('run'),
  responses: { 200: json(z.object({ object: z.literal('list'), data: z.array(modelSchema) }), 'All of them'), ...errors },
});

export function chatRoutes(server: ServerContext): OpenAPIHono<Env> {
  const routes = new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw misfit(result.error.issues);
    },
  });

  routes.openapi(complete, async (c) => {
    const request = c.req.valid('json');
    refuseUnsupported(request);
    const leave = server.open.enter(c.get('caller').tenant);
    let streams = false;
    try {
      const asTask = sentResults(request.messages).length > 0 || functionsOf(request).length > 0;
      const response = await (asTask ? taskChat(c, server, request, leave) : modelChat(c, server, request, leave));
      streams = request.stream === true;
      return response;
    } finally {
      // A stream leaves at its end; one that was refused has none.
      if (!streams) leave();
    }
  });

  routes.openapi(list, (c) => {
    const { known = [], defaultName } = server.models ?? {};
    const names = new Set([...(defaultName === undefined ? [] : [defaultName]), ...known]);
    return c.json({ object: 'list' as const, data: [...names].map((id) => ({ id, object: 'model' as const, created: 0, owned_by: id.split(/[/:]/, 1)[0] as string })) }, 200);
  });
  return routes;
}

/** Has errors of all that is under it told as OpenAI's clients expect them. */
export function tellAsOpenAI(routes: OpenAPIHono<Env>, { onError }: ServerContext): void {
  routes.onError(async (error, c) => {
    if (isOurFault(error)) onError(error, `${c.req.method} ${c.req.path}`);
    return openaiErrorResponse(error instanceof HTTPException ? await withPlace(error, c) : error);
  });
}

async function modelChat(c: Context<Env>, server: ServerContext, request: ChatRequest, leave: () => void): Promise<Response> {
  const model = chatModel(server.models, request.model);
  const head = { id: `chatcmpl-${randomBytes(12).toString('hex')}`, created: Math.floor(server.now() / 1000), model: model.name };
  const key = providerKey(c.get('caller').tenant, c.req.header('idempotency-key'));
  if (!request.stream) return c.json(completionOf(head, await plainChat(model, request, { signal: c.req.raw.signal, key })));
  return streamed(c, server, request, { head, onEnd: leave, answer: (telling) => plainChat(model, request, { ...telling, key }) });
}

async function taskChat(c: Context<Env>, server: ServerContext, request: ChatRequest, leave: () => void): Promise<Response> {
  const { engine } = server;
  const stand = await standOf(c, server, request);
  const { createdAt, request: asked } = await engine.task(stand.ref);
  c.header('fermata-task-id', stand.ref.taskId);
  const head = { id: idOf(stand), created: Math.floor(createdAt / 1000), model: asked.model?.name ?? request.model };
  const options: AnswerOptions = { stops: stopsOf(request), oneByOne: request.parallel_tool_calls === false };
  if (!request.stream) return c.json(completionOf(head, await chatAnswer(server, await turnEnd(server, stand, c.req.raw.signal), options)));
  const answer: StreamOptions['answer'] = async ({ signal, ...telling }) => {
    const over = new AbortController();
    // Where this fails, all of the text is told in the end.
    const text = taskText(engine, stand, telling, over.signal).catch(() => {});
    try {
      return await chatAnswer(server, await turnEnd(server, stand, signal), options);
    } finally {
      over.abort();
      await text;
    }
  };
  return streamed(c, server, request, { head, onEnd: leave, answer });
}

async function standOf(c: Context<Env>, server: ServerContext, request: ChatRequest): Promise<ChatStand> {
  const results = sentResults(request.messages);
  if (results.length > 0) return continueChat(server, c.get('caller'), results);
  mustAccept(server);
  const model = chatModel(server.models, request.model);
  return beginChat(server, c.get('caller'), taskRequestOf(request, functionsOf(request), model.name), c.req.header('idempotency-key'));
}

function streamed(c: Context<Env>, server: ServerContext, request: ChatRequest, how: Omit<StreamOptions, 'stops' | 'withUsage'>): Response {
  return streamAnswer(c, server, { ...how, stops: stopsOf(request), withUsage: request.stream_options?.include_usage === true });
}

/** A provider knows one key for all tenants: what one of them has asked by the same name is nothing to another. */
function providerKey(tenant: string, given: string | undefined): string | undefined {
  return given === undefined ? undefined : createHash('sha256').update(`${tenant}\n${given}`).digest('hex');
}

/** The same for the same turn. */
function idOf({ ref, answered }: ChatStand): string {
  return `chatcmpl-${createHash('sha256')
    .update([ref.taskId, ...[...answered].sort()].join('\n'))
    .digest('hex')
    .slice(0, 24)}`;
}

function misfit(issues: readonly z.core.$ZodIssue[]): ChatRefusal {
  const [issue] = issues;
  const param = (issue?.path ?? []).reduce<string>((path, step) => (typeof step === 'number' ? `${path}[${step}]` : path === '' ? String(step) : `${path}.${String(step)}`), '');
  return new ChatRefusal(`${param === '' ? '' : `${param}: `}${issue?.message}`, param === '' ? {} : { param });
}

/** An engine with real machines for tests, on a store of the test's choice, and what it takes to kill and start it again. */
import { randomBytes } from 'node:crypto';
import { createThreadHost } from '@fermata/machine';
import type { Host, Store, TaskRef, TaskRequest } from '@fermata/protocol';
import { createEngine, createMemoryStore, type Engine, type EngineOptions, type EngineTool, type EngineTools, type TaskView } from '../src/index.ts';

export const TENANT = 'acme';
const KEY = { id: 'test', key: new Uint8Array(randomBytes(32)) };

let host: Host | undefined;
export function sharedHost(): Host {
  host ??= createThreadHost({ threads: 1 });
  return host;
}

export interface TestTool extends Partial<EngineTool> {
  name: string;
  /** Denies or wants an approval, as a policy would. */
  verdict?: ReturnType<EngineTools['judge']>;
}

/** `undefined` for `execute` makes a client-side tool. */
export function toolbox(tools: readonly TestTool[]): EngineTools {
  const found = new Map(tools.map((tool) => [tool.name, tool]));
  const whole = (tool: TestTool): EngineTool => ({ idempotent: false, requiresApproval: false, check: (args) => args, execute: undefined, ...tool });
  return {
    ready: async () => {},
    names: () => tools.map(({ name }) => ({ name, parameters: null })),
    describe: () => tools.map(({ name }) => ({ name, description: `does ${name}`, parameters: { type: 'object' } })),
    finding: [],
    found: () => undefined,
    checkRequest: () => {},
    find: (_, name) => {
      const tool = found.get(name);
      return tool && whole(tool);
    },
    judge: (_, tool) => found.get(tool.name)?.verdict ?? (tool.requiresApproval ? { action: 'require_approval' } : { action: 'allow' }),
  };
}

export interface Premises {
  engine: Engine;
  store: Store;
  run(request: TaskRequest, taskId?: string): Promise<TaskView>;
  ref(taskId: string): TaskRef;
}

export async function premises(tools: readonly TestTool[] = [], options: Partial<EngineOptions> = {}): Promise<Premises> {
  const store = options.store ?? createMemoryStore();
  const engine = createEngine({ host: sharedHost(), tools: toolbox(tools), prepare: ({ code }) => ({ code, explain: (fault) => fault }), sealKey: KEY, ...options, store });
  await engine.start();
  const ref = (taskId: string) => ({ tenant: TENANT, taskId });
  return {
    engine,
    store,
    ref,
    run: async (request, taskId) => {
      const { taskId: id } = await engine.submit(TENANT, request.code === undefined ? request : { language: 'javascript', ...request }, taskId === undefined ? {} : { taskId });
      return engine.wait(ref(id), 60_000);
    },
  };
}

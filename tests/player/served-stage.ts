/**
 * The stage for cases that need more than a library: a server in a process of its own, which is killed and started again, with
 * the case's mock tools in it. Its tasks are driven over HTTP.
 *
 * The engine of a case is the process that its programs run in. A worker is the server itself, because a data folder belongs to
 * one process; whoever takes over is the next one on that folder.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { CreateTaskWire, TaskWire } from '@fermata/protocol/wire';
import { type Setup, StoryServer } from '../stories/story-server.ts';
import { answerOfWire } from './answer.ts';
import { type Args, type Case, type Expectations, hostsOf, type Json, type ScenarioStep } from './case-bank.ts';
import { type Evidence, judge } from './judge.ts';
import { processesUnder } from './processes.ts';
import { callsIn, type ServedMocks } from './served-mocks.ts';
import type { Surroundings } from './surroundings.ts';
import { WebhookWatch } from './webhook-watch.ts';

const MOCKS = new URL('served-mocks.ts', import.meta.url).href;
const LOOK_MS = 20;
/** More than any case takes: what has not come by then hangs. */
const LONGEST_S = 600;

interface Actor {
  taskId: string;
  own: boolean;
  beganMs: number;
}
interface Kill {
  kill: 'engine' | 'worker' | 'server';
  signal?: NodeJS.Signals;
  when: string;
}

export class ServedStage implements AsyncDisposable {
  readonly problems: string[] = [];
  readonly evidence: Evidence[] = [];
  readonly #case: Case;
  readonly #surroundings: Surroundings;
  readonly #trappedBefore: number;
  readonly #webhooks = new WebhookWatch();
  #server: StoryServer | undefined;
  #actors: Actor[] = [];
  #session: string | undefined;
  #events = 0;
  #endedAt = 0;

  constructor(theCase: Case, surroundings: Surroundings) {
    this.#case = theCase;
    this.#surroundings = surroundings;
    this.#trappedBefore = surroundings.trapped;
  }

  static readonly steps: Record<string, (stage: ServedStage, step: ScenarioStep) => Promise<void>> = {
    submit: (stage) => stage.#submit(stage.#case.program, true),
    wait: (stage, step) => stage.#wait(step.wait as 'paused' | 'final'),
    sleep_ms: (_, step) => sleep(Number(step.sleep_ms)),
    answer: (stage, step) => stage.#answer(step.answer as unknown as GivenAnswer),
    approve: (stage, step) => stage.#decide('approval', step.approve as string, step.args as Args, 'approve'),
    deny: (stage, step) => stage.#decide('approval', step.deny as string, step.args as Args, 'reject'),
    cancel: (stage) => stage.#cancel(),
    restart: (stage) => stage.#restart('SIGKILL'),
    start: (stage) => stage.#start(),
    kill: (stage, step) => stage.#kill(step as unknown as Kill),
    session: async (stage, step) => {
      stage.#session = step.session as string;
    },
    run: (stage, step) => stage.#run(step),
    repeat: async (stage, step) => {
      for (let i = 0; i < Number(step.repeat); i++) await stage.#run(step);
    },
    // One process has the folder, with so many processes for programs.
    workers: async () => {},
    servers: (stage) => stage.#refuseSecond(),
    webhook: (stage, step) => stage.#webhooks.add(stage.#running.client(), step.webhook as never),
    expect_webhook: async (stage, step) => {
      stage.problems.push(...(await stage.#webhooks.judge(step, stage.#events, stage.#endedAt)));
    },
    fail_next_snapshot_write: async (stage) => {
      await stage.#running.ask('fail-next-checkpoint');
    },
  };

  async open(): Promise<void> {
    const [after] = this.#kills().flatMap(({ kill, signal = 'SIGKILL', when }) => {
      const [kind, , count = '1'] = when.split(':');
      return kind === 'after_tool' ? [{ count: Number(count), whom: kill === 'engine' ? ('machines' as const) : ('server' as const), signal }] : [];
    });
    this.#server = await StoryServer.start({ ...this.#setup(), ...(after ? { killAfterCalls: after } : {}) });
    rmSync(this.#log, { force: true });
  }

  async conclude(): Promise<void> {
    for (const actor of this.#actors) await this.#judge(actor, this.#case.expect);
    this.#actors = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    await this.#webhooks[Symbol.asyncDispose]();
  }

  get #running(): StoryServer {
    return this.#server as StoryServer;
  }
  get #log(): string {
    return join(this.#running.root, 'calls');
  }
  #kills(): Kill[] {
    return (this.#case.scenario ?? []).filter((step) => step.kill !== undefined) as unknown as Kill[];
  }

  #setup(): Setup {
    const workers = Number(this.#case.scenario?.find((step) => step.workers !== undefined)?.workers ?? 1);
    const toolsInput = (root: string): ServedMocks => ({ mocks: this.#case.tools, log: join(root, 'calls') });
    return { host: 'processes', threads: workers, toolsFrom: MOCKS, toolsInput, webhooks: { timeoutMs: 1000 } };
  }

  async #start(): Promise<void> {
    await this.#running.start(this.#setup());
  }

  async #restart(signal: NodeJS.Signals): Promise<void> {
    await this.#running.kill(signal);
    await this.#start();
  }

  async #kill({ kill, signal = 'SIGKILL', when }: Kill): Promise<void> {
    const [kind, tool, count = '1'] = when.split(':');
    if (kind === 'in_tool') {
      while (callsIn(this.#log).filter((call) => call.tool === tool).length < Number(count)) await sleep(LOOK_MS);
      if (kill !== 'engine') await this.#running.kill(signal);
      else for (const { pid } of processesUnder(this.#running.pid)) process.kill(pid, signal);
    } else if (kill !== 'engine') await this.#running.died;
    if (kill === 'worker') await this.#start();
  }

  async #refuseSecond(): Promise<void> {
    const refusal = await this.#running.refusalOfSecond();
    if (refusal !== 'store_locked') this.problems.push(`a second server on the folder: ${refusal ?? 'it started'}`);
  }

  async #submit(code: string, own: boolean): Promise<void> {
    const beganMs = performance.now();
    const { language, limits = {} } = this.#case;
    const seconds = (name: string) => (limits[name] === undefined ? undefined : Number(limits[name]) / 1000);
    // A time that the program is not to run out of says how fast a machine is, and not what is right.
    const wall = [this.#case.expect.status].flat().includes('timeout') ? seconds('timeout_ms') : LONGEST_S;
    const number = (name: string) => limits[name] as number | undefined;
    const task: CreateTaskWire = {
      ...{ language: language as 'python', code, ...(this.#session === undefined ? {} : { session_id: this.#session, shared_interpreter: true }) },
      tool_constraints: {
        ...{ timeout_seconds: wall, max_cpu_seconds: seconds('cpu_ms'), max_memory_mb: number('memory_mb'), max_disk_mb: number('disk_mb') },
        ...{ max_output_bytes: number('max_output_bytes'), max_tool_calls: number('max_tool_calls'), allowed_libraries: limits.allowed_libraries as string[] | undefined },
        network_access: hostsOf(this.#case),
      },
    };
    const { task_id: taskId } = await this.#running.client().tasks.create(task);
    this.#actors.push({ taskId, own, beganMs });
  }

  async #task({ taskId }: Actor): Promise<TaskWire> {
    const task = await this.#running.client().tasks.wait(taskId, { timeoutSeconds: LONGEST_S });
    if ('completed_at' in task) this.#endedAt = Date.parse(task.completed_at);
    return task;
  }

  async #wait(until: 'paused' | 'final'): Promise<void> {
    for (const actor of this.#actors) {
      const { status } = await this.#task(actor);
      if ((status === 'paused' || status === 'waiting') !== (until === 'paused')) this.problems.push(`waited for ${until}, but the status is ${status}`);
      if (until === 'final') this.#events++;
    }
  }

  #answer({ tool, args, value }: GivenAnswer): Promise<void> {
    return this.#decide('client_tool', tool, args, { output: value });
  }

  async #decide(kind: 'approval' | 'client_tool', tool: string, args: Args | undefined, how: 'approve' | 'reject' | { output: Json }): Promise<void> {
    const actor = this.#actors.at(-1) as Actor;
    const task = await this.#task(actor);
    const { calls } = this.#running.client();
    const waiting = ('waiting_for' in task && task.waiting_for) || [];
    const wanted = waiting.find((wait) => wait.kind === kind && wait.tool === tool && (!args || isDeepStrictEqual(wait.arguments, args)));
    if (!wanted?.call_id) this.problems.push(`no call of ${tool} waits for ${kind}`);
    else if (how === 'approve') await calls.approve(actor.taskId, wanted.call_id);
    else if (how === 'reject') await calls.reject(actor.taskId, wanted.call_id, { reason: 'denied' });
    else await calls.result(actor.taskId, wanted.call_id, how);
  }

  async #cancel(): Promise<void> {
    for (const { taskId } of this.#actors) {
      const { status } = await this.#running.client().tasks.cancel(taskId);
      if (status !== 'cancelled') this.problems.push(`a cancelled task has ${status}`);
    }
  }

  async #run(step: ScenarioStep): Promise<void> {
    if (step.session_reset) await this.#running.client().sessions.end(this.#session as string);
    const own = step.run === '@program';
    await this.#submit(own ? this.#case.program : (step.run as string), own);
    const actor = this.#actors.pop() as Actor;
    this.#events++;
    await this.#judge(actor, step.expect ?? this.#case.expect);
  }

  async #judge(actor: Actor, expect: Expectations): Promise<void> {
    const task = await this.#task(actor);
    const tookMs = performance.now() - actor.beganMs;
    const client = this.#running.client();
    const external = (await client.calls.list(actor.taskId)).filter(({ tool }) => this.#case.tools?.[tool]?.external);
    const evidence: Evidence = {
      ...{ answer: answerOfWire(task), tookMs, calls: [...callsIn(this.#log), ...external.map(({ tool, arguments: args }) => ({ tool, args: args as Args }))] },
      ...{ callsAfterEnd: 0, trapped: this.#surroundings.trapped - this.#trappedBefore, damage: this.#surroundings.damage() },
      healthy: expect.host_healthy === undefined || (await this.#isHealthy()),
      ...{ survivors: [], portWasOpen: false, grownBytes: 0, approved: [] },
    };
    this.problems.push(...judge(expect, evidence));
    if (!actor.own) return;
    this.evidence.push(evidence);
    this.problems.push(...judge(this.#case.exact ?? {}, evidence));
  }

  async #isHealthy(): Promise<boolean> {
    const task = await this.#running.client().tasks.create({ language: 'javascript', code: 'return 6 * 7', wait_seconds: LONGEST_S });
    return task.status === 'succeeded' && task.result.output === 42;
  }
}

interface GivenAnswer {
  tool: string;
  args?: Args;
  value: Json;
}

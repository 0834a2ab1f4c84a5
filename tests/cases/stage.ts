/**
 * The stage on which one case is played: its Fermata, its mock tools and its tasks, and a method for each step that a
 * scenario can have. A restart makes a new Fermata with threads of its own, and only snapshot bytes get across.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createFermata, type Fermata, FermataError, type Language, type LimitsInput, type Task, type Value } from 'fermata';
import { type Answer, answerOf, refusal } from './answer.ts';
import type { Args, Case, Expectations, ScenarioStep } from './case-bank.ts';
import { type Evidence, judge } from './judge.ts';
import { type MockTools, mockTools } from './mock-tools.ts';
import type { Surroundings } from './surroundings.ts';

const MiB = 1024 * 1024;
/** How long tools are watched after the end of a program. */
const AFTER_END_MS = 500;
const sealKey = { id: 'cases', key: randomBytes(32) };

interface Actor {
  /** Absent where the snapshot was refused. */
  task?: Task;
  answer: Promise<Answer>;
  mocks: MockTools;
  beganMs: number;
}

export class Stage implements AsyncDisposable {
  readonly problems: string[] = [];
  readonly #case: Case;
  readonly #surroundings: Surroundings;
  readonly #trappedBefore: number;
  #mocks: MockTools;
  #fermata: Fermata = createFermata({ sealKey });
  #actors: Actor[] = [];
  #snapshotEveryCall = false;

  constructor(theCase: Case, surroundings: Surroundings) {
    this.#case = theCase;
    this.#surroundings = surroundings;
    this.#trappedBefore = surroundings.trapped;
    this.#mocks = mockTools(theCase.tools);
  }

  /** What a step is, is its first key. */
  static readonly steps: Record<string, (stage: Stage, step: ScenarioStep) => Promise<void>> = {
    submit: (stage) => stage.#submit(stage.#case.program),
    wait: (stage, step) => stage.#wait(step.wait as 'paused' | 'final'),
    sleep_ms: (_, step) => sleep(Number(step.sleep_ms)),
    approve: (stage, step) => stage.#settle('approval', step.approve as string, step.args as Args, (task, callId) => task.approve(callId)),
    deny: (stage, step) => stage.#settle('approval', step.deny as string, step.args as Args, (task, callId) => task.fail(callId, { name: 'ApprovalRejected', message: 'denied' })),
    answer: (stage, step) => stage.#answer(step.answer as unknown as GivenAnswer),
    answer_concurrently: (stage, step) => stage.#answerTogether(step),
    approvals_pending: (stage, step) => stage.#approvalsPending(Number(step.approvals_pending)),
    restart: (stage, step) => stage.#restart(step.corrupt === 'snapshot'),
    fork: (stage, step) => stage.#fork(Number(step.fork)),
    branch: (stage, step) => stage.#branch(Number(step.branch), step),
    run: (stage, step) => stage.#run(step.run as string, step.expect),
    repeat: (stage, step) => stage.#repeat(Number(step.repeat), step),
    parallel: (stage, step) => stage.#parallel(Number(step.parallel), step.replace as Record<string, string>),
    snapshot_every_call: async (stage) => {
      stage.#snapshotEveryCall = true;
    },
  };

  /** The end of the play: every task that is still there is judged by the case's own expectations. */
  async conclude(): Promise<void> {
    for (const actor of this.#actors) await this.#judge(actor, this.#case.expect);
    this.#actors = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#fermata.close();
  }

  async #submit(code: string): Promise<void> {
    const beganMs = performance.now();
    const task = await this.#fermata.start({
      language: this.#case.language as Language,
      code,
      tools: this.#mocks.definitions,
      onEvent: this.#mocks.onEvent,
      limits: limitsOf(this.#case),
      ...(this.#case.limits?.allowed_libraries ? { allowedLibraries: this.#case.limits.allowed_libraries as string[] } : {}),
    });
    this.#actors.push({ task, answer: this.#snapshotEveryCall ? this.#goWithSnapshots(task) : go(task), mocks: this.#mocks, beganMs });
  }

  async #wait(until: 'paused' | 'final'): Promise<void> {
    for (const { answer } of this.#actors) {
      const { status, error } = await answer;
      if ((status === 'paused') !== (until === 'paused')) this.problems.push(`waited for ${until}, but the status is ${status} ${error}`);
    }
  }

  async #settle(kind: 'approval' | 'client_tool', tool: string, args: Args | undefined, how: (task: Task, callId: number) => void): Promise<void> {
    const actor = this.#actors.at(-1);
    if (!actor?.task) return;
    const { task } = actor;
    const wanted = task.waitingFor.find((wait) => wait.kind === kind && wait.tool === tool && (!args || isDeepStrictEqual({ ...wait.arguments }, args)));
    if (!wanted) {
      this.problems.push(`no call of ${tool} waits for ${kind}`);
      return;
    }
    how(task, wanted.callId);
    if (task.status !== 'running') actor.answer = go(task);
  }

  #answer({ tool, args, value }: GivenAnswer): Promise<void> {
    return this.#settle('client_tool', tool, args, (task, callId) => task.answer(callId, value));
  }

  async #answerTogether(step: ScenarioStep): Promise<void> {
    await this.#settle('client_tool', step.tool as string, undefined, (task, callId) => {
      let accepted = 0;
      for (let i = 0; i < Number(step.answer_concurrently); i++) {
        try {
          task.answer(callId, step.value as Value);
          accepted++;
        } catch (error) {
          if (!(error instanceof FermataError && error.code === 'invalid_state')) throw error;
        }
      }
      if (accepted !== step.expect_accepted) this.problems.push(`${accepted} answers were accepted, not ${step.expect_accepted}`);
    });
  }

  async #approvalsPending(wanted: number): Promise<void> {
    const pending = this.#actors.at(-1)?.task?.waitingFor.filter(({ kind }) => kind === 'approval').length;
    if (pending !== wanted) this.problems.push(`${pending} approvals are pending, not ${wanted}`);
  }

  async #restart(corrupt: boolean): Promise<void> {
    const saved: { actor: Actor; bytes: Uint8Array }[] = [];
    for (const actor of this.#actors) {
      await actor.answer;
      if (actor.task) saved.push({ actor, bytes: await actor.task.snapshot() });
    }
    await this.#fermata.close();
    this.#fermata = createFermata({ sealKey });
    for (const { actor, bytes } of saved) {
      if (corrupt) bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
      delete actor.task;
      try {
        actor.task = await this.#fermata.restore(bytes, { tools: actor.mocks.definitions, onEvent: actor.mocks.onEvent });
      } catch (error) {
        if (!(error instanceof FermataError)) throw error;
        actor.answer = Promise.resolve(refusal(error));
      }
      if (corrupt === (actor.task !== undefined)) this.problems.push(corrupt ? 'a corrupt snapshot was accepted' : 'a snapshot was refused');
    }
  }

  async #fork(count: number): Promise<void> {
    const { task, answer, mocks, beganMs } = this.#actors.pop() as Actor;
    await answer;
    for (let i = 0; i < count; i++) this.#actors.push({ task: await (task as Task).fork(`branch-${i}`), answer, mocks, beganMs });
  }

  async #branch(index: number, step: ScenarioStep): Promise<void> {
    const branches = this.#actors;
    this.#actors = [branches[index] as Actor];
    await this.#answer(step.answer as unknown as GivenAnswer);
    await this.#judge(this.#actors[0] as Actor, { ...this.#case.expect, ...step.expect });
    this.#actors = branches;
  }

  async #run(program: string, expect: Expectations = this.#case.expect): Promise<void> {
    this.#mocks = mockTools(this.#case.tools);
    await this.#submit(program === '@program' ? this.#case.program : program);
    await this.#judge(this.#actors.pop() as Actor, expect);
  }

  async #repeat(times: number, step: ScenarioStep): Promise<void> {
    for (let i = 0; i < times; i++) await this.#run(step.run as string, step.expect);
  }

  async #parallel(count: number, replace: Record<string, string>): Promise<void> {
    const numbered = (text: string, index: number) => Object.keys(replace).reduce((result, mark) => result.replaceAll(mark, String(index)), text);
    for (let i = 0; i < count; i++) await this.#submit(numbered(this.#case.program, i));
    for (const [i, actor] of this.#actors.entries()) await this.#judge(actor, JSON.parse(numbered(JSON.stringify(this.#case.expect), i)));
    this.#actors = [];
  }

  /** Each call is carried out while the snapshot of the moment it waits is being made. */
  async #goWithSnapshots(task: Task): Promise<Answer> {
    for (;;) {
      const step = await task.next();
      if (step.kind === 'ended') return answerOf(step.result);
      const call = task.pending[0];
      const execute = this.#mocks.definitions.find(({ name }) => name === call?.name)?.execute;
      if (!call || !execute) throw new Error('only a task that waits for its tools can be driven like this');
      const snapshot = task.snapshot();
      const value = await execute(call.args, { taskId: task.id, callId: call.id, idempotencyKey: '', signal: new AbortController().signal });
      task.answer(call.id, value as Value);
      await snapshot;
    }
  }

  async #judge(actor: Actor, expect: Expectations): Promise<void> {
    const answer = await actor.answer;
    const tookMs = performance.now() - actor.beganMs;
    const callsAtEnd = actor.mocks.log.length;
    if (expect.tool_calls_stop_at_end) await sleep(AFTER_END_MS);
    const evidence: Evidence = {
      answer,
      calls: actor.mocks.log,
      tookMs,
      callsAfterEnd: actor.mocks.log.length - callsAtEnd,
      trapped: this.#surroundings.trapped - this.#trappedBefore,
      healthy: expect.host_healthy === undefined || (await this.#isHealthy()),
    };
    this.problems.push(...judge(expect, evidence));
  }

  async #isHealthy(): Promise<boolean> {
    const { output } = await this.#fermata.run({ language: 'javascript', code: '6 * 7' });
    return output === 42;
  }
}

interface GivenAnswer {
  tool: string;
  args?: Args;
  value: Value;
}

async function go(task: Task): Promise<Answer> {
  return answerOf(await task.run());
}

function limitsOf({ limits = {} }: Case): LimitsInput {
  const number = (name: string, unit = 1) => (limits[name] === undefined ? undefined : Number(limits[name]) * unit);
  return {
    timeoutMs: number('timeout_ms'),
    maxCpuMs: number('cpu_ms'),
    maxMemoryBytes: number('memory_mb', MiB),
    maxDiskBytes: number('disk_mb', MiB),
    maxOutputBytes: number('max_output_bytes'),
    maxToolCalls: number('max_tool_calls'),
  };
}

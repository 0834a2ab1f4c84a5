/**
 * The stage on which one case is played: its mock tools and its tasks, and a method for each step that a scenario can
 * have. A restart makes a new Fermata with threads of its own, and only snapshot bytes get across.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { FermataError, type Language, type LimitsInput, type Task, type Value } from 'fermata';
import { type Answer, answerOf, refusal } from './answer.ts';
import { type Args, type Case, type Expectations, hostsOf, type ScenarioStep } from './case-bank.ts';
import { damaged } from './damaged.ts';
import { type Evidence, judge } from './judge.ts';
import { type HostCall, type MockTools, mockTools } from './mock-tools.ts';
import { PortWatch } from './port-watch.ts';
import type { Premises } from './premises.ts';
import { processesUnder } from './processes.ts';
import type { Surroundings } from './surroundings.ts';

const MiB = 1024 * 1024;
/** How long tools are watched after the end of a program. */
const AFTER_END_MS = 500;

/** What the command line of a host's own process, and of its jail, says. */
const OF_A_HOST = /hosts\/child\.js/;
const VICTIM = /^casebank-victim/;
/** After its first output a program is left alone for so long before it is to pause. */
const UNDER_WAY_MS = 300;
const REFUSALS = ['checkpoint_invalid', 'environment_mismatch'];

interface Actor {
  /** Its program is the case's own, and comes to what the case says exactly. */
  own: boolean;
  /** Absent where the snapshot was refused. */
  task?: Task;
  answer: Promise<Answer>;
  mocks: MockTools;
  beganMs: number;
}

export class Stage {
  readonly problems: string[] = [];
  /** Of every end that the case's own program came to. */
  readonly evidence: Evidence[] = [];
  readonly #case: Case;
  readonly #premises: Premises;
  readonly #surroundings: Surroundings;
  readonly #trappedBefore: number;
  #mocks: MockTools;
  #actors: Actor[] = [];
  /** Nobody judges them; they are waited for at the end. */
  readonly #background: Promise<unknown>[] = [];
  readonly #approved: HostCall[] = [];
  readonly #rssBefore = process.memoryUsage.rss();
  readonly #port: PortWatch | undefined;
  #snapshotEveryCall = false;

  constructor(theCase: Case, premises: Premises, surroundings: Surroundings) {
    this.#case = theCase;
    this.#premises = premises;
    this.#surroundings = surroundings;
    this.#trappedBefore = surroundings.trapped;
    this.#mocks = mockTools(theCase.tools, hostsOf(theCase));
    const { port_closed_from_host: port } = theCase.expect;
    this.#port = port === undefined ? undefined : new PortWatch(Number(port));
  }

  /** What a step is, is its first key. */
  static readonly steps: Record<string, (stage: Stage, step: ScenarioStep) => Promise<void>> = {
    submit: (stage) => stage.#submit(stage.#case.program, true),
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
    run: (stage, step) => (step.background ? stage.#runAside(step.run as string) : stage.#run(step.run as string, step.expect)),
    repeat: (stage, step) => stage.#repeat(Number(step.repeat), step),
    parallel: (stage, step) => stage.#parallel(Number(step.parallel), step.replace as Record<string, string>),
    cancel: (stage) => stage.#cancel(),
    pause_after_output: (stage, step) => stage.#pauseAfterOutput(step),
    resume: (stage) => stage.#resume(),
    restore_damaged: (stage, step) => stage.#restoreDamaged(Number(step.restore_damaged)),
    snapshot_every_call: async (stage) => {
      stage.#snapshotEveryCall = true;
    },
  };

  /** The end of the play: every task that is still there is judged by the case's own expectations. */
  async conclude(): Promise<void> {
    for (const actor of this.#actors) await this.#judge(actor, this.#case.expect);
    this.#actors = [];
    await Promise.all(this.#background);
    await this.#port?.end();
  }

  async #submit(code: string, own: boolean): Promise<void> {
    const beganMs = performance.now();
    const task = await this.#premises.fermata.start({
      language: this.#case.language as Language,
      code,
      tools: this.#mocks.definitions,
      onEvent: this.#mocks.onEvent,
      limits: limitsOf(this.#case),
      ...(this.#case.limits?.allowed_libraries ? { allowedLibraries: this.#case.limits.allowed_libraries as string[] } : {}),
    });
    this.#actors.push({ own, task, answer: this.#snapshotEveryCall ? this.#goWithSnapshots(task) : go(task), mocks: this.#mocks, beganMs });
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
    if (kind === 'approval') this.#approved.push({ tool, args: wanted.arguments });
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
    await this.#premises.restart();
    for (const { actor, bytes } of saved) {
      if (corrupt) bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
      delete actor.task;
      try {
        actor.task = await this.#premises.fermata.restore(bytes, { tools: actor.mocks.definitions, onEvent: actor.mocks.onEvent });
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
    for (let i = 0; i < count; i++) this.#actors.push({ own: false, task: await (task as Task).fork(`branch-${i}`), answer, mocks, beganMs });
  }

  async #branch(index: number, step: ScenarioStep): Promise<void> {
    const branches = this.#actors;
    this.#actors = [branches[index] as Actor];
    await this.#answer(step.answer as unknown as GivenAnswer);
    await this.#judge(this.#actors[0] as Actor, { ...this.#case.expect, ...step.expect });
    this.#actors = branches;
  }

  async #run(program: string, expect: Expectations = this.#case.expect): Promise<void> {
    this.#mocks = mockTools(this.#case.tools, hostsOf(this.#case));
    const own = program === '@program';
    await this.#submit(own ? this.#case.program : program, own);
    await this.#judge(this.#actors.pop() as Actor, expect);
  }

  async #runAside(program: string): Promise<void> {
    await this.#submit(program, false);
    this.#background.push((this.#actors.pop() as Actor).answer);
  }

  async #cancel(): Promise<void> {
    for (const { task } of this.#actors) {
      const result = await task?.cancel();
      if (result && result.status !== 'cancelled') this.problems.push(`a cancelled task has ${result.status}`);
    }
  }

  /** `refused`: the program cannot be stopped where it is; the pause must say so, with this text, when the task ends. */
  async #pauseAfterOutput(step: ScenarioStep): Promise<void> {
    const { task, mocks } = this.#actors.at(-1) as Actor;
    await mocks.printed(step.pause_after_output as string);
    await sleep(UNDER_WAY_MS);
    const beganMs = performance.now();
    const refusedWith = await task?.pause().then(
      () => undefined,
      (error: Error) => error.message,
    );
    const tookMs = performance.now() - beganMs;
    if (refusedWith !== step.refused) this.problems.push(`the pause ${refusedWith ? `was refused: ${refusedWith}` : 'was not refused'}`);
    if (tookMs > Number(step.within_ms)) this.problems.push(`the pause took ${Math.round(tookMs)} ms`);
  }

  async #resume(): Promise<void> {
    for (const actor of this.#actors) if (actor.task) actor.answer = go(actor.task);
  }

  /** The snapshot of the last task, in so many damaged forms: every one is refused by name. */
  async #restoreDamaged(count: number): Promise<void> {
    const { task, mocks } = this.#actors.at(-1) as Actor;
    const snapshot = await (task as Task).snapshot();
    for (const { how, bytes } of damaged(snapshot, count)) {
      const outcome = await this.#premises.fermata.restore(bytes, { tools: mocks.definitions }).then(
        () => 'accepted',
        (error) => (error instanceof FermataError ? error.code : String(error)),
      );
      if (!REFUSALS.includes(outcome)) this.problems.push(`a snapshot with ${how}: ${outcome}`);
    }
  }

  async #repeat(times: number, step: ScenarioStep): Promise<void> {
    for (let i = 0; i < times; i++) await this.#run(step.run as string, step.expect);
  }

  async #parallel(count: number, replace: Record<string, string>): Promise<void> {
    const numbered = (text: string, index: number) => Object.keys(replace).reduce((result, mark) => result.replaceAll(mark, String(index)), text);
    for (let i = 0; i < count; i++) await this.#submit(numbered(this.#case.program, i), true);
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
      const value = await execute(call.args as never, { taskId: task.id, callId: call.id, idempotencyKey: '', signal: new AbortController().signal });
      task.answer(call.id, value as Value);
      await snapshot;
    }
  }

  async #judge(actor: Actor, expect: Expectations): Promise<void> {
    const answer = await actor.answer;
    const portWasOpen = (await this.#port?.end()) ?? false;
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
      damage: this.#surroundings.damage(),
      survivors: survivors(),
      portWasOpen,
      grownBytes: process.memoryUsage.rss() - this.#rssBefore,
      approved: this.#approved,
    };
    this.problems.push(...judge(expect, evidence));
    if (!actor.own) return;
    this.evidence.push(evidence);
    this.problems.push(...judge(this.#case.exact ?? {}, evidence));
  }

  async #isHealthy(): Promise<boolean> {
    const { output } = await this.#premises.fermata.run({ language: 'javascript', code: '6 * 7' });
    return output === 42;
  }
}

interface GivenAnswer {
  tool: string;
  args?: Args;
  value: Value;
}

function survivors(): string[] {
  return processesUnder(process.pid)
    .map(({ command }) => command)
    .filter((command) => !OF_A_HOST.test(command) && !VICTIM.test(command));
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

/** Tasks under fire: submitted, decided on, paused and resumed from outside, while the engine that runs them dies all the time. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallView, TaskView } from 'fermata';
import { HttpReceiver } from '../stories/http-receiver.ts';
import { Died, EngineUnderFire } from './engine-under-fire.ts';
import { effectsFile } from './tools.ts';
import { type Work, workOf } from './workload.ts';

export interface OrdealOptions {
  folder: string;
  host: 'threads' | 'processes';
  kills: number;
  atOnce: number;
  seed: number;
  say: (text: string) => void;
}

export interface Findings {
  kills: number;
  perMoment: Record<string, number>;
  tasks: number;
  /** Calls whose outcome the engine could not know, and how many of them had had their effect. */
  unknown: { asked: number; happened: number };
  /** Webhooks that tell of the end of a task, and how many of them came again, which they may. */
  webhooks: { received: number; repeated: number };
  recoveryMs: number[];
  wrong: string[];
}

const MOMENTS = [
  'commit.before',
  'commit.after',
  'checkpoint.before',
  'checkpoint.after',
  'tool.before',
  'tool.after',
  'settle.after',
  'deliver.before',
  'deliver.after',
  'webhook.before',
  'webhook.after',
];
/** Those that do not come often. */
const RARE = /^(checkpoint|webhook)/;
const TENANT = 'crash';
/** Between two looks at what waits. */
const LOOK_MS = 15;
const LAST_MS = 120_000;
/** Every so many lives the disk is slow. */
const SLOW_EVERY = 5;
const SLOW_MS = 40;

export class Ordeal {
  readonly #options: OrdealOptions;
  readonly #open = new Map<string, Work>();
  readonly #all = new Map<string, Work>();
  /** Submitted, and not answered yet. */
  readonly #unanswered = new Set<string>();
  readonly #findings: Findings = { kills: 0, perMoment: {}, tasks: 0, unknown: { asked: 0, happened: 0 }, webhooks: { received: 0, repeated: 0 }, recoveryMs: [], wrong: [] };
  #receiver!: HttpReceiver;
  #random: number;
  #submitting = true;

  constructor(options: OrdealOptions) {
    this.#options = options;
    this.#random = options.seed;
  }

  async run(): Promise<Findings> {
    const { kills, say } = this.#options;
    await using receiver = await HttpReceiver.start();
    this.#receiver = receiver;
    while (this.#findings.kills < kills) {
      await this.#life(this.#findings.kills % 2 === 0 ? undefined : MOMENTS[(this.#findings.kills >> 1) % MOMENTS.length]);
      if (this.#findings.kills % 50 === 0) say(`${this.#findings.kills} kills, ${this.#findings.tasks} tasks done`);
    }
    this.#submitting = false;
    await this.#lastLife();
    return this.#findings;
  }

  /** One life of the engine, with its death. */
  async #life(moment: string | undefined): Promise<void> {
    const { folder, host } = this.#options;
    const at = moment === undefined ? undefined : `${moment}:${1 + Math.floor(this.#chance() ** 2 * (RARE.test(moment) ? 6 : 25))}`;
    const engine = new EngineUnderFire({ folder, host, at, slowMs: this.#findings.kills % SLOW_EVERY === 0 ? SLOW_MS : undefined });
    try {
      this.#findings.recoveryMs.push(await engine.ready);
      const death = moment === undefined ? sleep(20 + this.#chance() * 500) : Promise.race([engine.died, sleep(4_000, undefined, { ref: false })]);
      await Promise.race([this.#tend(engine), death]);
    } catch (error) {
      if (!(error instanceof Died)) throw error;
    }
    // Where its moment did not come it was killed at some other.
    const name = engine.isDead && moment !== undefined ? moment : 'random';
    await engine.kill();
    this.#findings.kills++;
    this.#findings.perMoment[name] = (this.#findings.perMoment[name] ?? 0) + 1;
  }

  /** Nobody is killed any more: everything must end, and end right. */
  async #lastLife(): Promise<void> {
    const { folder, host } = this.#options;
    const engine = new EngineUnderFire({ folder, host });
    await engine.ready;
    await Promise.race([this.#tend(engine), sleep(LAST_MS, undefined, { ref: false })]);
    for (const id of this.#open.keys()) {
      const view = await engine.call('task', { tenant: TENANT, taskId: id }).catch((error: Error) => error.message);
      this.#findings.wrong.push(
        `${id} did not end: ${typeof view === 'string' ? view : `${view.status} ${JSON.stringify({ waitingFor: view.waitingFor, inFlight: view.inFlight, queueReason: view.queueReason })}`}`,
      );
    }
    for (const id of [...this.#all.keys()].slice(-50)) {
      const { verified, differences } = await engine.call('verify', { tenant: TENANT, taskId: id }).catch((error: Error) => ({ verified: false, differences: [error.message] }));
      if (!verified) this.#findings.wrong.push(`${id} is not verified: ${differences.join('; ')}`);
    }
    await this.#checkWebhooks();
    await engine.kill();
    this.#checkEffects();
  }

  /** Submits, decides, pauses and resumes until there is nothing left to do. */
  async #tend(engine: EngineUnderFire): Promise<void> {
    for (const id of this.#unanswered) await this.#asked(engine, id, this.#all.get(id) as Work);
    for (;;) {
      while (this.#submitting && this.#open.size < this.#options.atOnce) await this.#submit(engine);
      if (this.#open.size === 0) return;
      const waiting = await engine.call('inbox', TENANT, { kinds: ['approval', 'client_tool', 'outcome_unknown'], limit: 200 });
      for (const call of waiting.items) await this.#decide(engine, call);
      for (const [id, work] of [...this.#open]) this.#look(await engine.call('task', { tenant: TENANT, taskId: id }), work);
      await this.#meddle(engine);
      await sleep(LOOK_MS);
    }
  }

  async #submit(engine: EngineUnderFire): Promise<void> {
    const number = this.#all.size;
    const id = `t${number}`;
    const work = workOf(number, id);
    this.#all.set(id, work);
    // From now on it is asked for until there is an answer: the same id again is no second task.
    this.#open.set(id, work);
    this.#unanswered.add(id);
    await this.#asked(engine, id, work);
  }
  async #asked(engine: EngineUnderFire, id: string, { language, code }: Work): Promise<void> {
    await engine.call('submit', TENANT, { language, code, limits: { timeoutMs: 600_000, maxCpuMs: 600_000 }, callbackUrl: `${this.#receiver.url}/hook` }, { taskId: id });
    this.#unanswered.delete(id);
  }

  async #decide(engine: EngineUnderFire, call: CallView & { taskId: string }): Promise<void> {
    const ref = { tenant: TENANT, taskId: call.taskId };
    const { n, key } = call.arguments as { n?: number; key?: string };
    let decision: unknown;
    if (call.waitsFor === 'approval') decision = { action: 'approve' };
    else if (call.waitsFor === 'client_tool') decision = (n as number) < 0 ? { action: 'error', error: { message: 'refused' } } : { action: 'result', output: (n as number) * 10 };
    else {
      const happened = this.#effects().some((line) => line.startsWith(`${key} `));
      this.#findings.unknown.asked++;
      if (happened) this.#findings.unknown.happened++;
      decision = happened ? { action: 'result', output: `done ${key}` } : { action: 'retry' };
    }
    try {
      await engine.call('decide', ref, call.callId, decision, 'the suite');
    } catch (error) {
      // The list was read before: the call may have been settled by now, or its task ended.
      const { code } = error as { code?: string };
      if (code !== 'invalid_state' && code !== 'conflict') throw error;
    }
  }

  #look(view: TaskView, work: Work): void {
    if (view.endedAt === null) return;
    this.#open.delete(view.taskId);
    this.#findings.tasks++;
    const got = JSON.stringify({ status: view.status, output: view.output, stdout: view.stdout, error: view.error });
    const wanted = JSON.stringify({ status: 'succeeded', output: work.output, stdout: work.stdout, error: null });
    if (got !== wanted) this.#findings.wrong.push(`${view.taskId}: ${got} in place of ${wanted}`);
  }

  /** Now and then a task is paused, and all that are paused are resumed. */
  async #meddle(engine: EngineUnderFire): Promise<void> {
    const ids = [...this.#open.keys()];
    const id = ids[Math.floor(this.#chance() * ids.length)];
    if (id === undefined || this.#chance() > 0.2) return;
    const ref = { tenant: TENANT, taskId: id };
    try {
      const view = await engine.call('task', ref);
      if (view.desired === 'pause') await engine.call('resume', ref);
      else if (this.#submitting) await engine.call('pause', ref, { waitMs: 5_000 });
      if (!this.#submitting) for (const other of ids) await engine.call('resume', { tenant: TENANT, taskId: other });
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== 'invalid_state') throw error;
    }
  }

  #effects(): string[] {
    const file = effectsFile(this.#options.folder);
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  }
  #checkEffects(): void {
    const counts = new Map<string, number>();
    for (const line of this.#effects()) {
      const key = line.split(' ')[0] as string;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    for (const { effects, repeatable } of this.#all.values()) {
      for (const key of effects) if (counts.get(key) !== 1) this.#findings.wrong.push(`the effect ${key} happened ${counts.get(key) ?? 0} times`);
      for (const key of repeatable) if (!counts.has(key)) this.#findings.wrong.push(`the effect ${key} never happened`);
    }
  }

  /** Each end is told, always under the same name. */
  async #checkWebhooks(): Promise<void> {
    const names = new Map<string, string[]>();
    const read = () => {
      names.clear();
      for (const { body, headers } of this.#receiver.received) {
        const { type, data } = JSON.parse(body) as { type: string; data: { task_id: string } };
        if (type === 'task.succeeded') names.set(data.task_id, [...(names.get(data.task_id) ?? []), headers['webhook-id'] as string]);
      }
    };
    const until = Date.now() + LAST_MS;
    for (read(); names.size < this.#findings.tasks && Date.now() < until; read()) await sleep(100);
    for (const id of this.#all.keys()) {
      const told = names.get(id) ?? [];
      if (new Set(told).size !== 1) this.#findings.wrong.push(`the end of ${id} was told under ${new Set(told).size} names`);
      this.#findings.webhooks.received += told.length;
      this.#findings.webhooks.repeated += Math.max(0, told.length - 1);
    }
  }

  /** Between 0 and 1; the same for the same seed. */
  #chance(): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#random / 2 ** 32;
  }
}

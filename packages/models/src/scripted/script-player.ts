/**
 * Plays a script: chooses the step of each request, and keeps what came of it. A reply is recorded by the key of its request,
 * and who asks again with the key is given it again and not billed. Nothing survives the process; what a conversation already
 * holds of the script's replies tells a new one where it stands.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { unmetOf } from './expectation.ts';
import type { Asked, Reply } from './protocol.ts';
import type { Script, ScriptedFault, ScriptedReply, ScriptedStep } from './script.ts';

export interface Billed {
  requests: number;
  inputTokens: number;
  outputTokens: number;
}

export interface PlayedRequest {
  asked: Asked;
  headers: IncomingHttpHeaders;
  /** The body as it came. */
  body: string;
  key: string | undefined;
}

export type Answer = ({ step: number; reply: Reply } | { step: number; fault: ScriptedFault; reply?: Reply } | { refused: string }) & { again?: true };

const BYTES_OF_TOKEN = 4;

export class ScriptPlayer {
  readonly billed: Billed = { requests: 0, inputTokens: 0, outputTokens: 0 };
  /** What did not come as the script expects it. */
  readonly unmet: string[] = [];
  readonly #steps: readonly ScriptedStep[];
  readonly #taken: number[];
  readonly #recorded = new Map<string, { body: string; step: number; reply: Reply }>();
  #replies = 0;

  constructor({ steps }: Script) {
    this.#steps = steps;
    this.#taken = steps.map(() => 0);
  }

  /** Steps that no request has taken, from 1. */
  get leftOver(): number[] {
    return this.#taken.flatMap((taken, step) => (taken === 0 && this.#steps[step]?.times !== 'any' ? [step + 1] : []));
  }

  stepOf(answer: Answer): ScriptedStep | undefined {
    return 'step' in answer ? this.#steps[answer.step - 1] : undefined;
  }

  answer(request: PlayedRequest): Answer {
    const { asked, headers, body, key } = request;
    const before = key === undefined ? undefined : this.#recorded.get(key);
    if (before && before.body !== body) return this.#refuse(`the key ${key} came before, with another request`);
    if (before) return { step: before.step, reply: before.reply, again: true };
    this.#passOver(request);
    const index = this.#steps.findIndex((step, at) => this.#isFree(at) && unmetOf(step.when, asked, headers).length === 0);
    const step = this.#steps[index];
    if (!step) return this.#refuse(`no step is left for this request, which ends with ${JSON.stringify(asked.messages.at(-1)?.text.slice(-200) ?? '')}`);
    const missing = unmetOf(step.expect, asked, headers);
    if (missing.length > 0) return this.#refuse(`step ${index + 1}: ${missing.join('; ')}`);
    this.#taken[index] = (this.#taken[index] ?? 0) + 1;
    const { fault, reply: given } = step;
    if (given === undefined) return { step: index + 1, fault: fault as ScriptedFault };
    const reply = this.#make(typeof given === 'function' ? given(asked) : given, asked, body);
    if (fault && !('recorded' in fault && fault.recorded)) return { step: index + 1, fault, reply };
    this.billed.requests += 1;
    this.billed.inputTokens += reply.usage.inputTokens;
    this.billed.outputTokens += reply.usage.outputTokens;
    if (key !== undefined) this.#recorded.set(key, { body, step: index + 1, reply });
    return { step: index + 1, reply, ...(fault ? { fault } : {}) };
  }

  #isFree(at: number): boolean {
    const { times = 1 } = this.#steps[at] as ScriptedStep;
    return times === 'any' || (this.#taken[at] ?? 0) < times;
  }

  /**
   * A conversation that holds replies of the script goes on after the last of them, also where they came from a process before this
   * one. A request for an answer holds the last program only.
   */
  #passOver({ asked, headers }: PlayedRequest): void {
    const said = asked.messages.filter(({ role }) => role === 'assistant').map(({ text }) => text.trim());
    const mine = this.#steps.map((step, at) => ({ step, at })).filter(({ step }) => unmetOf(step.when, asked, headers).length === 0);
    let passed = 0;
    for (const [i, { step }] of mine.entries()) {
      const { reply, fault } = step;
      if (reply === undefined || typeof reply === 'function' || (fault && !('recorded' in fault))) continue;
      const place = said.findIndex((text) => text === textOfReply(reply).trim() || text === programOfReply(reply));
      if (place < 0) continue;
      said.splice(place, 1);
      passed = i + 1;
    }
    for (const { at } of mine.slice(0, passed)) this.#taken[at] ||= 1;
  }

  #make(given: string | ScriptedReply, asked: Asked, body: string): Reply {
    const { calls = [], finish = 'stop', usage } = typeof given === 'string' ? {} : given;
    const number = ++this.#replies;
    const text = textOfReply(given);
    const said = text.length + (calls.length > 0 ? JSON.stringify(calls).length : 0);
    return {
      ...{ number, model: asked.model, text, finish },
      calls: calls.map((call, i) => ({ id: `call_${number}_${i + 1}`, ...call })),
      usage: usage ?? { inputTokens: Math.ceil(body.length / BYTES_OF_TOKEN), outputTokens: Math.ceil(said / BYTES_OF_TOKEN) },
    };
  }

  #refuse(refused: string): Answer {
    this.unmet.push(refused);
    return { refused };
  }
}

function textOfReply(given: string | ScriptedReply): string {
  if (typeof given === 'string') return given;
  return [given.text, programOfReply(given)].filter(Boolean).join('\n\n');
}

function programOfReply(given: string | ScriptedReply): string | undefined {
  if (typeof given === 'string' || !given.program) return undefined;
  const { language, code } = given.program;
  return `\`\`\`${language}\n${(typeof code === 'string' ? code : code.join('\n')).replace(/\n$/, '')}\n\`\`\``;
}

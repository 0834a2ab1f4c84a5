/**
 * Runs a program that makes a call, through all of a host, and moves it to another machine on the way. V8 compiles a
 * function when it first runs; after this it has compiled what every program passes through, on both sides.
 */
import type { Budget, HostedMachine, Language, Program } from '@fermata/protocol';

const CODE: Record<Language, string> = {
  python: 'print(tools.rehearsed())',
  javascript: 'console.log(await tools.rehearsed({})); return 1',
  typescript: 'console.log(await tools.rehearsed({})); return 1',
};
const ROUNDS = 3;
const BUDGET: Budget = { wallMs: 60_000, cpuMs: 60_000 };
const ignore = () => {};

export async function rehearse(language: Language, create: () => Promise<HostedMachine>, restore: (snapshot: Uint8Array) => Promise<HostedMachine>): Promise<void> {
  const program: Program = { language, code: CODE[language], tools: [{ name: 'rehearsed', parameters: null }] };
  for (let round = 0; round < ROUNDS; round++) {
    const machine = await create();
    await machine.advance({ kind: 'start', program, seed: new Uint8Array(32), nowMs: 0 }, BUDGET, ignore);
    const moved = await restore(await machine.snapshot());
    machine.dispose();
    await moved.advance({ kind: 'answer', callId: 1, result: { ok: 1 }, nowMs: 0 }, BUDGET, ignore);
    moved.dispose();
  }
}

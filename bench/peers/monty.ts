/** Monty: an interpreter for a part of Python, native code in this process. */
import { peerModule } from './peer-module.ts';

export interface MontyPaused {
  readonly functionName?: string;
  readonly args?: unknown[];
  readonly output?: unknown;
  resume(options: { returnValue: unknown }): MontyPaused;
  dump(): Uint8Array;
}
interface Module {
  Monty: new (code: string) => { run(): unknown; start(): MontyPaused };
}

export async function openMonty() {
  const { Monty } = await peerModule<Module>('@pydantic/monty');
  return {
    run: (code: string): unknown => new Monty(code).run(),
    start: (code: string): MontyPaused => new Monty(code).start(),
  };
}

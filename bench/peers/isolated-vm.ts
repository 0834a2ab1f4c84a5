/** isolated-vm: V8 isolates of their own, with the compiler; a machine is an isolate with one context. */
import { peerModule } from './peer-module.ts';

interface Context {
  eval(code: string, options: { copy: true; promise?: true }): Promise<unknown>;
  evalSync(code: string, options: { copy: true }): unknown;
  evalClosure(code: string, args: unknown[], options: { result: { promise: true; copy: true } }): Promise<unknown>;
}
export interface Isolate {
  createContextSync(): Context;
  dispose(): void;
}
interface Module {
  default: { Isolate: new () => Isolate; Reference: new (value: unknown) => unknown };
}

export async function openIsolatedVm() {
  const { default: ivm } = await peerModule<Module>('isolated-vm');
  return {
    create: () => new ivm.Isolate(),
    /** A function of the host, for {@link Context.evalClosure}. */
    reference: (value: unknown) => new ivm.Reference(value),
  };
}

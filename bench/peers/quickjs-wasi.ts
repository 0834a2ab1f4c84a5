/** quickjs-wasi: QuickJS-ng in Wasm, not transformed. A machine is one of its VMs, made from a module that is compiled once. */
import { peerFile, peerModule } from './peer-module.ts';

interface Handle {
  dispose(): void;
}
export interface QuickjsWasiVm {
  evalCode(code: string): Handle;
  dump(handle: Handle): unknown;
  newFunction(name: string, call: (...args: Handle[]) => Handle): Handle;
  newNumber(value: number): Handle;
  newPromise(): { handle: Handle; resolve(value: Handle): void };
  setProp(object: Handle, name: string, value: Handle): void;
  readonly global: Handle;
  executePendingJobs(): number;
  snapshot(): unknown;
  dispose(): void;
}
interface Module {
  QuickJS: { create(options: { wasm: WebAssembly.Module }): Promise<QuickjsWasiVm>; serializeSnapshot(snapshot: unknown): Uint8Array };
}

export async function openQuickjsWasi() {
  const { QuickJS } = await peerModule<Module>('quickjs-wasi');
  const wasm = await WebAssembly.compile(peerFile('quickjs-wasi/quickjs.wasm'));
  return {
    create: () => QuickJS.create({ wasm }),
    evaluate(vm: QuickjsWasiVm, code: string): unknown {
      const handle = vm.evalCode(code);
      const value = vm.dump(handle);
      handle.dispose();
      return value;
    },
    snapshot: (vm: QuickjsWasiVm) => QuickJS.serializeSnapshot(vm.snapshot()),
  };
}

/** quickjs-emscripten with the QuickJS-ng variant that it brings along; a machine is a runtime with one context in a shared Wasm module. */
import { peerModule } from './peer-module.ts';

interface Handle {
  dispose(): void;
}
interface Context {
  evalCode(code: string): { value?: Handle; error?: Handle };
  dump(handle: Handle): unknown;
  dispose(): void;
}
interface Module {
  getQuickJS(): Promise<{ newContext(): Context }>;
}

export async function openQuickjsEmscripten() {
  const { getQuickJS } = await peerModule<Module>('quickjs-emscripten');
  const quickjs = await getQuickJS();
  return {
    /** A context of its own for one program. */
    runOnce(code: string): unknown {
      const context = quickjs.newContext();
      const { value, error } = context.evalCode(code);
      const output = context.dump((value ?? error) as Handle);
      (value ?? error)?.dispose();
      context.dispose();
      if (error) throw new Error(JSON.stringify(output));
      return output;
    },
  };
}

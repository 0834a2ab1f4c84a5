/** Pyodide: CPython in Wasm, not transformed. One instance is one interpreter; a fresh one is made from a memory snapshot. */
import { peerModule } from './peer-module.ts';

interface Interpreter {
  runPython(code: string, options?: { globals: unknown }): unknown;
  globals: { get(name: string): () => unknown };
  makeMemorySnapshot(): Uint8Array;
}
interface Module {
  loadPyodide(options?: { _makeSnapshot?: true; _loadSnapshot?: Uint8Array }): Promise<Interpreter>;
}

export async function openPyodide() {
  const { loadPyodide } = await peerModule<Module>('pyodide');
  const first = await loadPyodide({ _makeSnapshot: true });
  const snapshot = first.makeMemorySnapshot();
  return {
    snapshot,
    /** An interpreter that no program has used. */
    fresh: () => loadPyodide({ _loadSnapshot: snapshot }),
    load: () => loadPyodide(),
  };
}

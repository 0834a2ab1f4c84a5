/** Names for what is WebAssembly's in published types: TypeScript knows `WebAssembly` only with the DOM library, which users may not have. */

/** A `WebAssembly.Module`. */
export type WasmModule = object;
/** Imports of one module, by name. */
export type WasmImports = Record<string, (...args: never[]) => number | void>;

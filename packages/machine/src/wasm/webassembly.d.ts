/** The part of the WebAssembly JavaScript API that is used here; without the DOM library TypeScript does not know it. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Memory {
    constructor(size: { initial: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  class Global {
    value: number;
  }
  class Instance {
    constructor(module: Module, imports: Record<string, ModuleImports>);
    readonly exports: Record<string, unknown>;
  }
  type ModuleImports = Record<string, (...args: never[]) => number | void>;
  function compile(bytes: Uint8Array): Promise<Module>;
}

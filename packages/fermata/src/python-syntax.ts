/** Whether Python can parse a program: it is asked itself, in a machine, and runs nothing of it. */
import { DEFAULT_LIMITS, type Host, type Limits } from '@fermata/protocol';

export interface SyntaxFault {
  message: string;
  line: number;
  column: number;
}

const ASK = `import ast
def _ask(code):
    try:
        compile(code, "main.py", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        return {"message": error.msg, "line": error.lineno or 1, "column": max(error.offset or 1, 1)}
__result__ = _ask(task_input)`;
const LIMITS: Limits = { ...DEFAULT_LIMITS, timeoutMs: 10_000, maxCpuMs: 5_000 };
const SEED = new Uint8Array(32);

/** Null: it parses. Undefined: that cannot be said, since the machine was stopped over it. */
export async function pythonSyntax(host: Host, code: string): Promise<SyntaxFault | null | undefined> {
  const machine = await host.create('cpython', LIMITS, {});
  try {
    const program = { language: 'python' as const, code: ASK, input: code };
    const outcome = await machine.advance({ kind: 'start', program, seed: SEED, nowMs: 0 }, { wallMs: LIMITS.timeoutMs, cpuMs: LIMITS.maxCpuMs }, () => {});
    return outcome.kind === 'done' ? (outcome.value as SyntaxFault | null) : undefined;
  } finally {
    machine.dispose();
  }
}

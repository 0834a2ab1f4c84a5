/** The machine's own python3. One process stays; it runs each program in a namespace of its own and tells the processor time that took. */
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';

const SERVE = `
import json, sys, time
for line in sys.stdin:
    code, namespace = json.loads(line), {}
    began = time.process_time()
    exec(compile(code, "main.py", "exec"), namespace)
    output = namespace["main"]()
    print(json.dumps([(time.process_time() - began) * 1000, output]), flush=True)
`;

export interface NativePython {
  /** The interpreter itself: a version manager's stand-in on the PATH would be timed with it. */
  path: string;
  version: string;
}

/** Throws where there is no python3. */
export function nativePython(): NativePython {
  const { status, stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.executable, sys.version.split()[0])'], { encoding: 'utf8' });
  if (status !== 0) throw new Error('no python3 on the PATH');
  const [path = '', version = ''] = stdout.trim().split(' ');
  return { path, version };
}

export function openNativePython() {
  const { path, version } = nativePython();
  const child = spawn(path, ['-I', '-c', SERVE], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    version,
    /** Runs `main()` of the program. */
    async main(code: string): Promise<{ cpuMs: number; output: unknown }> {
      child.stdin.write(`${JSON.stringify(code)}\n`);
      const { value, done } = await answers.next();
      if (done) throw new Error('python3 ended');
      const [cpuMs, output] = JSON.parse(value);
      return { cpuMs, output };
    },
    close: async () => {
      child.kill();
    },
  };
}

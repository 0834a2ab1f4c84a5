/** Wall and processor time of one action, in ms. Processor time is that of this thread; where Node cannot tell it, of the process. */
export async function wallMs<T>(action: () => T | Promise<T>): Promise<{ value: number; output: T }> {
  const began = performance.now();
  const output = await action();
  return { value: performance.now() - began, output };
}

export function cpuMs<T>(action: () => T): { value: number; output: T } {
  const before = threadCpuMs();
  const output = action();
  return { value: threadCpuMs() - before, output };
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1000;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

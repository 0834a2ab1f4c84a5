/** Whether a call that waits for somebody is a program that a model has written, which a person is to agree to. */
export function isPlan(tool: string | null, args: unknown): boolean {
  const { value } = (args ?? {}) as { value?: { code?: unknown } | null };
  return tool === 'plan' && typeof value?.code === 'string';
}

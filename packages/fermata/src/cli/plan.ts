/** Whether a call that waits is a program that a model has written, which a person is to agree to; a tool may have the same name. */
export function isPlan({ kind, tool, arguments: args }: { kind: string; tool: string | null; arguments: unknown }): boolean {
  const { value } = (args ?? {}) as { value?: { code?: unknown } | null };
  return kind === 'review' && tool === 'plan' && typeof value?.code === 'string';
}

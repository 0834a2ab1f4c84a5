/** The entries of a journal, without the texts in them that are told elsewhere. */

/** What is long and told elsewhere: the request by the task itself, programs by its code, prompts and replies by its journal. */
const TOLD_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  submitted: ['request'],
  program: ['code'],
  model_asked: ['messages', 'functions'],
  model_replied: ['text', 'calls'],
};

export function withoutTexts(kind: string, data: Record<string, unknown>): unknown {
  const left = TOLD_ELSEWHERE[kind];
  return left ? Object.fromEntries(Object.entries(data).filter(([name]) => !left.includes(name))) : data;
}

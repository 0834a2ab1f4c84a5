/** What programs can do and cannot, in each language, in few words; docs/programs.md has all of it. */
import type { Language } from '@fermata/protocol';

const PYTHON = `Python 3.13. The result is the value of the last statement if that is an expression (else set \`__result__\`). The standard library is there, and \`requests\` where there is network; numpy, pandas and all other packages are not. No threads, processes or sockets; \`asyncio\` works, and \`await\` may stand at the top level. Outside of a running event loop a tool call blocks and returns its result; inside of one it returns an awaitable. The task's input is \`task_input\`. \`import fermata\` has \`step(name)\`, \`progress(x)\`, \`sleep(seconds)\`, \`review(value, reason)\`.`;
const JAVASCRIPT = `JavaScript (ES2025), the body of an async function: \`return\` gives the result, \`await\` may stand at the top level. No \`import\`, \`require\`, \`process\` or \`Buffer\`. Globals: \`tools\`, \`input\` (the task's input), \`files\` (\`read\`, \`readText\`, \`readJson\`, \`write\`, \`append\`, \`list\`, \`exists\`), \`console\`, timers, \`URL\`, \`TextEncoder\`, \`structuredClone\`, \`crypto.randomUUID\`, \`step(name)\`, \`progress(x)\`, \`sleep(seconds)\`, \`review(value, reason)\`; \`fetch\` where there is network. Dates without a zone are in UTC.`;
const TYPESCRIPT = 'TypeScript is JavaScript whose types are taken out and not checked.';

/** Of the language that is asked for, else of all. */
export function languagesText(language: Language | undefined): string {
  if (language === 'python') return `Write the program in Python.\n${PYTHON}`;
  if (language === 'javascript') return `Write the program in JavaScript.\n${JAVASCRIPT}`;
  if (language === 'typescript') return `Write the program in TypeScript.\n${JAVASCRIPT}\n${TYPESCRIPT}`;
  return `Choose the language that suits the task: Python, JavaScript or TypeScript.\n- ${PYTHON}\n- ${JAVASCRIPT}\n- ${TYPESCRIPT}`;
}

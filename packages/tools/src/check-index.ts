/** What `@fermata/tools/check` offers: the check of programs. Apart, because the parsers behind it are loaded only where it is made. */
export { checkProgram } from './check/check.ts';
export type { CheckedTool, CheckOptions } from './check/check-options.ts';
export type { CheckRule, Finding } from './check/finding.ts';

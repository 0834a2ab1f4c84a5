/** `fermata policy test`: what rules say of a call, without making it. */

import { fromWire, parseOptions, strictOptions, type ValueRecord } from '@fermata/protocol';
import { policyRuleOf, policyRuleSchema } from '@fermata/protocol/wire';
import { judgeCall } from '@fermata/tools';
import type { Command } from 'commander';
import { z } from 'zod';
import { EXIT } from './exit-code.ts';
import { print } from './print.ts';
import { readJson } from './read-input.ts';

const fileSchema = z.union([z.array(policyRuleSchema), strictOptions({ policy: z.array(policyRuleSchema) })]);

export function addPolicyCommand(program: Command, done: (exitCode: number) => void): void {
  program
    .command('policy')
    .description('rules for tool calls')
    .command('test')
    .description('say what rules decide about a call, and which rule it is')
    .argument('<rules>', 'a file with JSON: a list of rules, or { "policy": [...] }')
    .argument('<tool>', 'name of the tool')
    .argument('[arguments]', 'of the call: JSON, or @file with JSON', '{}')
    .option('--json', 'print one JSON object')
    .action(async (file: string, tool: string, given: string, { json }: { json?: boolean }) => {
      const read = parseOptions(fileSchema, await readJson(`@${file}`, 'the rules'), file);
      const rules = (Array.isArray(read) ? read : read.policy).map(policyRuleOf);
      const args = fromWire(await readJson(given, 'the arguments')) as ValueRecord;
      const { action, rule, reason = rule?.reason } = judgeCall(rules, tool, args);
      const number = rule === undefined ? null : rules.indexOf(rule) + 1;
      print(json, { action, rule: number, ...(reason === undefined ? {} : { reason }) }, () =>
        number === null ? `${action}: no rule fits` : `${action}: rule ${number}${reason === undefined ? '' : `, ${reason}`}`,
      );
      done(EXIT.ok);
    });
}

/** `fermata policy`: rules for tool calls, and what they say of a call, without making it. */

import { fromWire, type PolicyRule, parseOptions, type ValueRecord } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { type PolicyRuleWire, type PolicyVerdictWire, policyRuleOf, policyRuleSchema } from '@fermata/protocol/wire';
import { showVerdict } from '@fermata/server';
import { checkRules, explainCall } from '@fermata/tools';
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { addConnectionOptions, type ConnectionOptions } from './connection-options.ts';
import { EXIT } from './exit-code.ts';
import { columns, print } from './print.ts';
import { readJson } from './read-input.ts';
import { parseCount } from './units.ts';
import { withConnection } from './with-connection.ts';

const fileSchema = z.union([z.array(policyRuleSchema), strictOptions({ policy: z.array(policyRuleSchema) })]);

interface TestOptions extends ConnectionOptions {
  calls?: number;
  at?: string;
  ask?: boolean;
}

export function addPolicyCommand(policy: Command, done: (exitCode: number) => void): void {
  addConnectionOptions(
    policy
      .command('test')
      .description('say what rules decide about a call, which rule it is, and why')
      .argument('<rules>', 'a file with JSON: a list of rules, or { "policy": [...] }')
      .argument('<tool>', 'name of the tool')
      .argument('[arguments]', 'of the call: JSON, or @file with JSON', '{}')
      .option('--calls <n>', 'how many calls of the tool the task has made before', parseCount, 0)
      .option('--at <time>', 'when it is called, as 2026-01-31T09:30:00Z (default: now)', parseMoment)
      .option('--ask', 'take the rules as those of a task, and ask the server or the data folder, which has rules and tools besides'),
  ).action(async (file: string, tool: string, given: string, options: TestOptions) => {
    const wire = await readRules(file);
    const args = (await readJson(given, 'the arguments')) as Record<string, unknown>;
    const { calls = 0, at, json } = options;
    const tell = (verdict: PolicyVerdictWire) => print(json, verdict, () => toldVerdict(verdict));
    if (options.ask) {
      const asked = { policy: wire, tool, arguments: args, calls, ...(at === undefined ? {} : { at }) };
      return done(await withConnection(options, async (client) => tell(await client.policy.test(asked))));
    }
    const call = { tool, args: fromWire(args) as ValueRecord, now: at === undefined ? Date.now() : Date.parse(at), calls: () => calls };
    tell(showVerdict(explainCall([{ of: 'task', rules: rulesOf(wire) }], call)));
    done(EXIT.ok);
  });

  addConnectionOptions(policy.command('show').description('the rules that hold for all tasks: of the tenant, and of the server')).action(async (options: ConnectionOptions) =>
    done(
      await withConnection(options, async (client) => {
        const rules = await client.policy.get();
        const lines = (['tenant', 'server'] as const).flatMap((of) =>
          rules[of].map(({ tool, action, reason = '', ...conditions }, index) => [
            `${of} ${index + 1}`,
            action,
            tool,
            Object.keys(conditions).length > 0 ? JSON.stringify(conditions) : '',
            reason,
          ]),
        );
        print(options.json, rules, () => columns(lines) || 'no rules');
      }),
    ),
  );

  addConnectionOptions(
    policy.command('set').description("set the tenant's rules, in the place of those that it had").argument('<rules>', 'a file with JSON: a list of rules, or { "policy": [...] }'),
  ).action(async (file: string, options: ConnectionOptions) => {
    const wire = await readRules(file);
    done(
      await withConnection(options, async (client) => {
        const rules = await client.policy.set(wire);
        print(options.json, rules, () => `${rules.tenant.length} rules set`);
      }),
    );
  });
}

async function readRules(file: string): Promise<PolicyRuleWire[]> {
  const read = parseOptions(fileSchema, await readJson(`@${file}`, 'the rules'), file);
  const wire = (Array.isArray(read) ? read : read.policy) as PolicyRuleWire[];
  rulesOf(wire);
  return wire;
}

/** Throws `invalid_request` for one that cannot be understood. */
function rulesOf(wire: readonly PolicyRuleWire[]): PolicyRule[] {
  const rules = wire.map((rule) => policyRuleOf(rule as never));
  checkRules(rules);
  return rules;
}

function toldVerdict({ action, why, rates, rules }: PolicyVerdictWire): string {
  const others = rules.map(({ of, rule, action: does, fits, why: text }) => `  rule ${rule} of the ${of} (${does}) ${fits ? 'fits' : 'does not fit'}: ${text}`);
  const within = rates.map(({ of, rule }) => `  within the rate of rule ${rule} of the ${of}`);
  return [`${action}: ${why}`, ...within, ...others].join('\n');
}

function parseMoment(text: string): string {
  if (Number.isNaN(Date.parse(text)) || !/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(text)) throw new InvalidArgumentError('Write it as 2026-01-31T09:30:00Z.');
  return text;
}

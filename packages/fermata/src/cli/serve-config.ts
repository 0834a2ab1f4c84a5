/**
 * The file that `fermata serve --config` names: secrets, rules for all tasks, and headers that are added to requests of programs.
 *
 * A secret is for the tenants that it names, else for `default` alone: whoever registers a tool decides where its secrets are sent.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { FermataError, type PolicyRule, parseOptions } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { policyRuleOf, policyRuleSchema } from '@fermata/protocol/wire';
import { checkRules } from '@fermata/tools';
import type { AddedHeader } from '@fermata/tools/registry';
import { z } from 'zod';
import { readJson } from './read-input.ts';

export interface ServeConfig {
  policy: PolicyRule[];
  networkHeaders: AddedHeader[];
  secret: (tenant: string, name: string) => string | undefined;
}

const tenants = z.array(z.string().min(1)).min(1).optional();
const secretSchema = z.union(
  [z.string(), strictOptions({ value: z.string(), tenants }), strictOptions({ env: z.string().min(1), tenants }), strictOptions({ file: z.string().min(1), tenants })],
  'a text, { value }, { env } or { file } is wanted, the latter with tenants if need be',
);
const configSchema = strictOptions({
  secrets: z.record(z.string().min(1), secretSchema).optional(),
  policy: z.array(policyRuleSchema).max(1000).optional(),
  network_headers: z
    .array(
      strictOptions({
        hosts: z.array(z.string().min(1)).min(1),
        name: z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'this cannot be the name of a header'),
        secret: z.string().min(1).optional(),
        value: z.string().optional(),
        prefix: z.string().optional(),
      }).refine(({ secret, value }) => (secret === undefined) !== (value === undefined), 'give either secret or value'),
    )
    .optional(),
});

const DEFAULT_TENANTS = ['default'];

/** `given`: secrets of the command line, as `name=VARIABLE`. Throws `invalid_request` with the place of what is wrong. */
export async function loadServeConfig(file: string | undefined, given: readonly string[] = []): Promise<ServeConfig> {
  const at = file === undefined ? '' : `the configuration ${file}`;
  const config = file === undefined ? {} : parseOptions(configSchema, await readJson(`@${file}`, at), at);
  const folder = file === undefined ? '.' : dirname(file);
  const secrets = new Map(Object.entries(config.secrets ?? {}).map(([name, one]) => [name, secretOf(name, one, folder)]));
  for (const text of given) {
    const [, name, env] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    if (name === undefined || env === undefined) throw new FermataError('invalid_request', `--secret ${text}: write it as name=VARIABLE`);
    secrets.set(name, secretOf(name, { env }, folder));
  }
  const policy = (config.policy ?? []).map(policyRuleOf);
  checkRules(policy);
  const networkHeaders = (config.network_headers ?? []).map(({ hosts, name, secret, value = '', prefix = '' }): AddedHeader => {
    const known = secret === undefined ? { value } : secrets.get(secret);
    if (!known) throw new FermataError('invalid_request', `${at}.network_headers: there is no secret ${JSON.stringify(secret)}`, { hint: 'Name one of those in secrets.' });
    return { hosts, name, value: () => `${prefix}${known.value}` };
  });
  const secret = (tenant: string, name: string) => {
    const found = secrets.get(name);
    return found?.tenants.includes(tenant) ? found.value : undefined;
  };
  return { policy, networkHeaders, secret };
}

function secretOf(name: string, given: z.output<typeof secretSchema>, folder: string): { value: string; tenants: readonly string[] } {
  if (typeof given === 'string') return { value: given, tenants: DEFAULT_TENANTS };
  const { tenants = DEFAULT_TENANTS } = given;
  if ('value' in given) return { value: given.value, tenants };
  if ('env' in given) {
    const value = process.env[given.env];
    if (value === undefined) throw new FermataError('invalid_request', `the secret ${name}: the environment has no ${given.env}`);
    return { value, tenants };
  }
  try {
    return { value: readFileSync(resolve(folder, given.file), 'utf8').trimEnd(), tenants };
  } catch (cause) {
    throw new FermataError('invalid_request', `the secret ${name}: ${(cause as Error).message}`, { cause });
  }
}

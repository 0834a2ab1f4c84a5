/**
 * The rules that hold beside a task's own: those of the configuration, and those that each tenant has set; and how far the rates
 * per tenant are used up.
 *
 * A tenant's rules are durable when `set` resolves, as a document of the store. What counts for a rate per tenant becomes durable
 * with the call itself, so that a restart forgets none; for a rate per task the task's own calls are looked at.
 */
import { createHash } from 'node:crypto';
import type { DocumentRow, PolicyRate, PolicyRule, Store, ValueRecord } from '@fermata/protocol';
import { inTime, TookTooLong } from '../judged-in-time.ts';
import { countsFor, type PlacedRule, type PolicyLayer } from './policy.ts';
import { checkRules } from './rules.ts';

/** A call that the task has made before, and that policy has not refused. */
export interface PastCall {
  tool: string;
  at: number;
  args: () => ValueRecord;
}

export interface PolicyBookOptions {
  store: Pick<Store, 'document' | 'documents' | 'commit'>;
  /** For all tasks of all tenants. */
  rules?: readonly PolicyRule[];
  now?: () => number;
}

interface TenantPolicy {
  rules: readonly PolicyRule[];
  /** When calls that count for a rate per tenant were made, newest last, by the rate's key. */
  times: Map<string, number[]>;
}

const RULES = 'policy';
const RATE = 'policy_rate';
const FORMAT = 1;

export class PolicyBook {
  readonly server: readonly PolicyRule[];
  readonly #options: PolicyBookOptions;
  readonly #tenants = new Map<string, TenantPolicy>();
  readonly #loading = new Map<string, Promise<void>>();

  /** Throws `invalid_request` for a rule that cannot be understood. */
  constructor(options: PolicyBookOptions) {
    this.#options = options;
    this.server = options.rules ?? [];
    checkRules(this.server);
  }

  /** The rules of a tenant are asked for only after this has resolved for it. */
  async ready(tenant: string): Promise<void> {
    if (this.#tenants.has(tenant)) return;
    const loading = this.#loading.get(tenant) ?? this.#load(tenant).finally(() => this.#loading.delete(tenant));
    this.#loading.set(tenant, loading);
    await loading;
  }

  rulesOf(tenant: string): readonly PolicyRule[] {
    return this.#tenants.get(tenant)?.rules ?? [];
  }

  /** In the place of those that the tenant had; calls that are made from now on are judged by them. Throws `invalid_request`. */
  async set(tenant: string, rules: readonly PolicyRule[]): Promise<void> {
    checkRules(rules);
    await this.ready(tenant);
    const row = { kind: RULES, tenant, id: RULES, version: 1, createdAt: this.#now(), body: JSON.stringify({ format: FORMAT, rules }) };
    await this.#options.store.commit([{ documents: [{ row }] }]);
    (this.#tenants.get(tenant) as TenantPolicy).rules = rules;
  }

  /** `own`: rules of the task. */
  layers(tenant: string, own: readonly PolicyRule[] = []): PolicyLayer[] {
    return [
      { of: 'task', rules: own },
      { of: 'tenant', rules: this.rulesOf(tenant) },
      { of: 'server', rules: this.server },
    ];
  }

  /**
   * Counts a call for rates that it is within: `keep` is to be made durable with it. One that is not within all of them counts for
   * none, and is told by which rule, and in how long there is room; likewise one of which that is not known in time.
   */
  count(
    tenant: string,
    rates: readonly PlacedRule[],
    now: number,
    past: () => readonly PastCall[],
  ): { refusedBy: PlacedRule; retryAfterMs: number } | { tooSlow: PlacedRule } | { keep: (() => DocumentRow)[] } {
    let at = rates[0] as PlacedRule;
    const refusal = () => {
      for (const placed of rates) {
        at = placed;
        const rate = placed.rule.rate as PolicyRate;
        const earlier = rate.per === 'tenant' ? this.#timesOf(tenant, placed) : pastTimes(placed.rule, past());
        const oldest = earlier.at(-rate.calls);
        if (oldest !== undefined && oldest + rate.windowMs > now) return { refusedBy: placed, retryAfterMs: oldest + rate.windowMs - now };
      }
      return undefined;
    };
    try {
      // To look at the arguments of all calls before, by a pattern, may take for ever.
      const refused = rates.some(({ rule }) => rule.when && rule.rate?.per !== 'tenant') ? inTime(refusal) : refusal();
      if (refused) return refused;
    } catch (error) {
      if (error instanceof TookTooLong) return { tooSlow: at };
      throw error;
    }
    const perTenant = rates.filter(({ rule }) => rule.rate?.per === 'tenant');
    return {
      keep: perTenant.map((placed) => {
        const times = this.#timesOf(tenant, placed);
        times.push(now);
        times.splice(0, times.length - (placed.rule.rate as PolicyRate).calls);
        return () => ({ kind: RATE, tenant, id: keyOfRate(placed), version: 1, createdAt: now, body: JSON.stringify({ format: FORMAT, times }) });
      }),
    };
  }

  async #load(tenant: string): Promise<void> {
    const { store } = this.#options;
    const kept = await store.document(RULES, tenant, RULES);
    const { format, rules } = kept ? (JSON.parse(kept.body) as { format: number; rules: PolicyRule[] }) : { format: FORMAT, rules: [] };
    const policy: TenantPolicy = { rules: format === FORMAT ? rules : [], times: new Map() };
    let cursor: string | undefined;
    do {
      const page = await store.documents({ kind: RATE, tenant, limit: 200, ...(cursor === undefined ? {} : { cursor }) });
      for (const { id, body } of page.items) policy.times.set(id, (JSON.parse(body) as { times: number[] }).times);
      cursor = page.cursor;
    } while (cursor !== undefined);
    this.#tenants.set(tenant, policy);
  }

  #timesOf(tenant: string, placed: PlacedRule): number[] {
    const { times } = this.#tenants.get(tenant) as TenantPolicy;
    const key = keyOfRate(placed);
    const known = times.get(key) ?? [];
    times.set(key, known);
    return known;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

/** When the earlier calls were made that count for a rule. */
function pastTimes(rule: PolicyRule, past: readonly PastCall[]): number[] {
  return past.filter(({ tool, args }) => countsFor(rule, tool, args)).map(({ at }) => at);
}

/** Two rules that say the same share what is used up. */
function keyOfRate({ of, rule: { tool, when, rate } }: PlacedRule): string {
  return createHash('sha256')
    .update(JSON.stringify([of, tool, when, rate]))
    .digest('hex')
    .slice(0, 32);
}

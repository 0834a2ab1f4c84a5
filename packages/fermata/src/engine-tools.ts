/**
 * The tools of a registry, as an engine uses them: by tenant, by name, and with what policy says of them.
 *
 * A tool that is code runs as a task of its own, whose id follows from the call: a call that is made again after a crash finds
 * the task that it began before.
 */
import { type CallHistory, type EngineTool, type EngineToolCall, type EngineTools, type TaskView, taskOfCall, type Verdict } from '@fermata/engine';
import { FermataError, fromWire, type NetworkAccess, type PolicyRule, type TaskRequest, type ToolName, toWire, type ValueRecord } from '@fermata/protocol';
import { checkRules, findingTools, judgeCall, nameFits, type PlacedRule, parameterNames, type Tool, ToolError, toolsByName } from '@fermata/tools';
import { type AddedHeader, type AddressGuardOptions, networkTools, type PolicyBook, type RegisteredTool, type ToolRegistry } from '@fermata/tools/registry';

export interface EngineToolsOptions {
  registry: ToolRegistry;
  /** Rules beside those of the task itself. */
  policy: PolicyBook;
  /** Which addresses programs may reach besides public ones. */
  network?: AddressGuardOptions | undefined;
  networkHeaders?: readonly AddedHeader[] | undefined;
  /** As `trustHosts` of `networkTools`. */
  trustHosts?: boolean | undefined;
  /** Whether a task may ask for all public hosts. */
  anyHost?: boolean | undefined;
  /** Runs a task to its end; the same again for the same id. */
  runTask: (tenant: string, taskId: string, request: TaskRequest, signal: AbortSignal) => Promise<TaskView>;
}

const MOST_PATTERNS = 100;
const TOO_SLOW = 'it takes too long to say which of the calls before count for the rate';
const FINDING = findingTools(() => []).map((tool) => ({ name: tool.name, parameters: parameterNames(tool) }));

/** As the registry told them last. */
interface TenantTools {
  list: readonly RegisteredTool[];
  names: ToolName[];
  /** Those of them that fit patterns, by these. */
  fitting: Map<string, ToolName[]>;
  /** What finds them, likewise. */
  finding: Map<string, ReadonlyMap<string, Tool>>;
  byName: Map<string, RegisteredTool>;
}

export function engineTools(options: EngineToolsOptions): EngineTools {
  return new RegistryTools(options);
}

class RegistryTools implements EngineTools {
  readonly #options: EngineToolsOptions;
  readonly finding = FINDING;
  readonly #tenants = new Map<string, TenantTools>();
  /** What the access of a task's request comes to. */
  readonly #networks = new WeakMap<NetworkAccess, Tool[]>();

  constructor(options: EngineToolsOptions) {
    this.#options = options;
  }

  async ready(tenant: string): Promise<void> {
    await this.#options.policy.ready(tenant);
    const list = await this.#options.registry.list(tenant);
    // A task does not pay for the tools that it does not call.
    if (this.#tenants.get(tenant)?.list === list) return;
    const names = list.map(({ tool }) => ({ name: tool.name, parameters: parameterNames(tool) }));
    this.#tenants.set(tenant, { list, names, fitting: new Map(), finding: new Map(), byName: new Map(list.map((registered) => [registered.tool.name, registered])) });
  }

  names(tenant: string, patterns?: readonly string[]): readonly ToolName[] {
    const { names, fitting } = this.#of(tenant);
    if (patterns === undefined) return names;
    return remembered(fitting, patterns, () => names.filter(({ name }) => isGiven(name, patterns)));
  }

  describe(tenant: string, patterns?: readonly string[]): ReturnType<EngineTools['describe']> {
    const fitting = this.#of(tenant).list.filter(({ tool }) => isGiven(tool.name, patterns));
    return fitting.map(({ tool: { name, description, parameters, result } }) => ({ name, description, parameters, ...(result ? { result } : {}) }));
  }

  found(tenant: string, patterns: readonly string[] | undefined, name: string, args: ValueRecord): unknown {
    const { list, finding } = this.#of(tenant);
    const byName = remembered(finding, patterns, () => {
      const given = list.filter(({ tool }) => isGiven(tool.name, patterns)).map(({ tool }) => tool);
      return toolsByName(findingTools(() => given));
    });
    const tool = byName.get(name) as Tool;
    return tool.execute?.(tool.check(args) as never, undefined as never);
  }

  checkRequest({ network, policy = [] }: TaskRequest): void {
    checkRules(policy, 'task');
    if (network?.hosts === true && !this.#options.anyHost) {
      throw new FermataError('invalid_request', 'network_access: true is not allowed here', { hint: 'Name the hosts that the program may reach.' });
    }
    if (network) this.#networkOf(network);
  }

  find(tenant: string, name: string, { tools: patterns, network }: Pick<TaskRequest, 'tools' | 'network'>): EngineTool | undefined {
    const ofNetwork = network && this.#networkOf(network).find((tool) => tool.name === name);
    if (ofNetwork) return ofNetwork;
    const registered = isGiven(name, patterns) ? this.#of(tenant).byName.get(name) : undefined;
    if (!registered?.program) return registered?.tool;
    return { ...registered.tool, idempotent: true, execute: (args: unknown, call: EngineToolCall) => this.#runCode(tenant, registered, args, call) };
  }

  judge(tenant: string, { name, requiresApproval }: EngineTool, args: ValueRecord, rules: readonly PolicyRule[], { now, calls, isCounted }: CallHistory): Verdict {
    const { policy } = this.#options;
    const call = { tool: name, args, now, calls: () => calls().filter(({ tool }) => tool === name).length };
    const { action, decidedBy, rates, reason } = judgeCall(policy.layers(tenant, rules), call, requiresApproval ? 'require_approval' : 'allow');
    if (rates.length > 0 && !isCounted) {
      const counted = policy.count(tenant, rates, now, calls);
      if ('refusedBy' in counted) return { action: 'rate_limited', retryAfterMs: counted.retryAfterMs, ...told(counted.refusedBy) };
      if ('tooSlow' in counted) return { action: 'deny', ...told(counted.tooSlow), reason: TOO_SLOW };
      if (counted.keep.length > 0) return { action, keep: counted.keep, ...told(decidedBy) };
    }
    return { action, ...told(decidedBy), ...(reason === undefined ? {} : { reason }) };
  }

  #networkOf(access: NetworkAccess): Tool[] {
    const { network, networkHeaders, trustHosts = false } = this.#options;
    const made = this.#networks.get(access) ?? networkTools({ ...access, trustHosts, ...(network ? { network } : {}), ...(networkHeaders ? { headers: networkHeaders } : {}) });
    this.#networks.set(access, made);
    return made;
  }

  #of(tenant: string): TenantTools {
    const tools = this.#tenants.get(tenant);
    if (!tools) throw new FermataError('internal', `the tools of tenant ${tenant} were not made ready`);
    return tools;
  }

  async #runCode(tenant: string, { tool, program }: RegisteredTool, args: unknown, { callId, signal }: EngineToolCall): Promise<unknown> {
    const request: TaskRequest = {
      ...(program as NonNullable<RegisteredTool['program']>),
      ...{ input: toWire(args), tools: [], metadata: { tool: tool.name, call_id: callId } },
    };
    const ended = await this.#options.runTask(tenant, taskOfCall(callId), request, signal);
    const { checkResult = (value: unknown) => value } = tool;
    if (ended.status === 'succeeded') return checkResult(fromWire(ended.output));
    throw new ToolError(ended.error?.message ?? `the tool's task ${ended.taskId} was ${ended.status}`, { name: 'ToolError', data: { code: ended.error?.code ?? ended.status } });
  }
}

/** What `make` makes of the patterns, made once for the same ones. */
function remembered<T>(known: Map<string, T>, patterns: readonly string[] | undefined, make: () => T): T {
  const key = JSON.stringify(patterns ?? null);
  const made = known.get(key) ?? make();
  if (known.size >= MOST_PATTERNS) known.clear();
  known.set(key, made);
  return made;
}

function isGiven(name: string, patterns: readonly string[] | undefined): boolean {
  return patterns === undefined || patterns.some((pattern) => nameFits(pattern, name));
}

function told(placed: PlacedRule | undefined): Pick<Verdict, 'rule' | 'reason'> & { expiresAfterMs?: number } {
  if (!placed) return {};
  const { of, number, rule } = placed;
  const { reason, expiresAfterMs, rate } = rule;
  const limit = rate && `at most ${rate.calls} calls in ${rate.windowMs / 1000} s`;
  const text = [reason, limit].filter(Boolean).join(', ');
  return { rule: `rule ${number} of the ${of}`, ...(text ? { reason: text } : {}), ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }) };
}

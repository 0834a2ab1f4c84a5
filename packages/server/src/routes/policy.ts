/** The rules that hold beside a task's own, and what they say of a call that nobody has made. */

import { FermataError, fromWire, ValueError, type ValueRecord } from '@fermata/protocol';
import { policyRuleOf, policyRuleToWire, policySchema, policyTestSchema, policyVerdictSchema, setPolicySchema } from '@fermata/protocol/wire';
import { checkRules, explainCall, type Tool } from '@fermata/tools';
import { createRoute } from '@hono/zod-openapi';
import { needs } from '../auth/authenticate.ts';
import { body, json, newRoutes, problems } from '../new-routes.ts';
import type { ServerContext } from '../server-options.ts';
import { showVerdict } from '../show/verdict.ts';

const tags = ['Tools'];

const get = createRoute({
  method: 'get',
  path: '/policy',
  tags,
  summary: 'Rules for all tasks',
  ...needs('read'),
  responses: { 200: json(policySchema, 'Those of the tenant and those of the server'), ...problems() },
});
const set = createRoute({
  method: 'put',
  path: '/policy',
  tags,
  summary: 'Set the rules of the tenant',
  description: 'They hold for all its tasks, beside the rules of each. Calls that are made from now on are judged by them.',
  ...needs('admin'),
  request: { body: body(setPolicySchema) },
  responses: { 200: json(policySchema, 'As they are now'), ...problems(415, 422) },
});
const ask = createRoute({
  method: 'post',
  path: '/policy/test',
  tags,
  summary: 'What would become of a call',
  description: 'Judges a call as if a task with these rules had made it. Nothing is called.',
  ...needs('read'),
  request: { body: body(policyTestSchema) },
  responses: { 200: json(policyVerdictSchema, 'The verdict'), ...problems(404, 415, 422) },
});

export function policyRoutes({ tools, policy, now }: ServerContext) {
  const routes = newRoutes();
  const shown = (tenant: string) => ({ tenant: policy.rulesOf(tenant).map(policyRuleToWire), server: policy.server.map(policyRuleToWire) });

  routes.openapi(get, async (c) => {
    const { tenant } = c.get('caller');
    await policy.ready(tenant);
    return c.json(shown(tenant), 200);
  });

  routes.openapi(set, async (c) => {
    const { tenant } = c.get('caller');
    await policy.set(tenant, c.req.valid('json').policy.map(policyRuleOf));
    return c.json(shown(tenant), 200);
  });

  routes.openapi(ask, async (c) => {
    const { tenant } = c.get('caller');
    const { policy: given = [], tool, arguments: args = {}, calls = 0, at } = c.req.valid('json');
    const registered = await tools.lookup(tenant, tool);
    if (!registered) throw new FermataError('not_found', `there is no tool ${JSON.stringify(tool)}`);
    await policy.ready(tenant);
    const own = given.map(policyRuleOf);
    checkRules(own, 'task');
    const call = { tool, args: asJudged(registered.tool, argumentsOf(args)), now: at === undefined ? now() : Date.parse(at), calls: () => calls };
    return c.json(showVerdict(explainCall(policy.layers(tenant, own), call, registered.tool.requiresApproval ? 'require_approval' : 'allow')), 200);
  });
  return routes;
}

/** As rules see them. Those that the tool would not take are looked at as they are. */
function asJudged(tool: Tool, args: ValueRecord): ValueRecord {
  try {
    tool.check(args);
    return tool.judged?.(args) ?? args;
  } catch {
    return args;
  }
}

function argumentsOf(args: Record<string, unknown>): ValueRecord {
  try {
    return fromWire(args) as ValueRecord;
  } catch (cause) {
    if (cause instanceof ValueError) throw new FermataError('invalid_request', cause.message, { cause });
    throw cause;
  }
}

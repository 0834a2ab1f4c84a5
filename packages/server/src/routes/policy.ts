/** What policy says of a call that nobody has made. */

import { FermataError, fromWire, type PolicyRule, ValueError, type ValueRecord } from '@fermata/protocol';
import { type PolicyVerdictWire, policyRuleOf, policyTestSchema, policyVerdictSchema } from '@fermata/protocol/wire';
import { judgeCall } from '@fermata/tools';
import { createRoute } from '@hono/zod-openapi';
import { needs } from '../auth/authenticate.ts';
import { body, json, newRoutes, problems } from '../new-routes.ts';
import type { ServerContext } from '../server-options.ts';

const ask = createRoute({
  method: 'post',
  path: '/policy/test',
  tags: ['Tools'],
  summary: 'What would become of a call',
  description: 'Judges a call as if a task with these rules had made it. Nothing is called.',
  ...needs('read'),
  request: { body: body(policyTestSchema) },
  responses: { 200: json(policyVerdictSchema, 'The verdict'), ...problems(404, 415, 422) },
});

export function policyRoutes({ tools, policy }: ServerContext) {
  const routes = newRoutes();
  routes.openapi(ask, async (c) => {
    const { policy: given = [], tool, arguments: args = {} } = c.req.valid('json');
    const registered = await tools.lookup(c.get('caller').tenant, tool);
    if (!registered) throw new FermataError('not_found', `there is no tool ${JSON.stringify(tool)}`);
    return c.json(verdictOf(given.map(policyRuleOf), policy, tool, argumentsOf(args), registered.tool.requiresApproval), 200);
  });
  return routes;
}

function verdictOf(own: PolicyRule[], servers: readonly PolicyRule[], tool: string, args: ValueRecord, requiresApproval: boolean): PolicyVerdictWire {
  const { action, rule, reason = rule?.reason } = judgeCall([...own, ...servers], tool, args, requiresApproval ? 'require_approval' : 'allow');
  if (!rule) return { action, decided_by: 'tool', rule: null, reason: null };
  const place = own.indexOf(rule);
  return { action, decided_by: place < 0 ? 'server' : 'task', rule: place < 0 ? servers.indexOf(rule) : place, reason: reason ?? null };
}

function argumentsOf(args: Record<string, unknown>): ValueRecord {
  try {
    return fromWire(args) as ValueRecord;
  } catch (cause) {
    if (cause instanceof ValueError) throw new FermataError('invalid_request', cause.message, { cause });
    throw cause;
  }
}

/** What `@fermata/protocol/schemas` offers. Apart, because zod is as large as all else that a thread of machines loads, which needs none of it. */
export { limitsSchema } from './limits-schema.ts';
export { policyCallsSchema, policyConditionsSchema, policyRateBounds, policyTimeSchema } from './policy-schema.ts';
export { strictOptions } from './strict-options.ts';

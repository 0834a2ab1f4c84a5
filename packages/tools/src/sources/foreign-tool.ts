/**
 * A tool that a source tells of. Its schema is foreign: it is compiled at the first call, apart from all others, and where it
 * cannot be compiled arguments pass unchecked - the service behind the tool checks them anyway.
 */
import type { ValueRecord } from '@fermata/protocol';
import { newAjv } from '../new-ajv.ts';
import { type SchemaCheck, schemaCheck } from '../schema-check.ts';
import type { Tool, ToolCallInfo } from '../tool.ts';
import type { ToolGate, ToolLimits } from '../tool-limits.ts';
import { inTimeFor, refusal } from '../tool-schema.ts';
import { plainJson } from './plain-json.ts';

export interface ForeignTool {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  idempotent: boolean;
  requiresApproval: boolean;
  /** What the source says of its results; it is told in stubs, and not checked. */
  result?: Record<string, unknown> | undefined;
  retry?: ToolLimits['retry'];
  gate?: ToolGate | undefined;
  /** Bytes are handed on as such, not as base64. */
  keepBytes?: boolean;
  execute: (args: Record<string, unknown>, info: ToolCallInfo) => Promise<unknown>;
}

export function foreignTool({ keepBytes = false, execute, ...shown }: ForeignTool): Tool {
  let issueOf: SchemaCheck | null | undefined;
  const check = (given: ValueRecord) => {
    const args = plainJson(given, { keepBytes });
    if (issueOf === undefined) issueOf = compiled(shown.parameters);
    const issue = issueOf && inTimeFor(shown.name, () => issueOf?.(args));
    if (!issue) return args;
    const { path, message, keyword, params } = issue;
    const unknown = keyword === 'additionalProperties' ? `: ${String(params?.additionalProperty)}` : '';
    throw refusal(shown.name, 'parameters', path, `${message}${unknown}`);
  };
  return { ...shown, check, execute: execute as Tool['execute'] };
}

/** A pattern that is none is left to the service. ajv tells patterns apart by `toString`. */
const lenientPattern = (pattern: string) => {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return { test: () => true, toString: () => pattern };
  }
};
const regExp = Object.assign(lenientPattern, { code: 'new RegExp' });

function compiled(schema: Record<string, unknown>): SchemaCheck | null {
  const { $schema, $id: _id, ...rest } = schema;
  const isDraft7 = typeof $schema === 'string' && /draft-0[4-7]/.test($schema);
  const options = { strict: false, ownProperties: true, meta: false, validateSchema: false, validateFormats: false, logger: false, code: { regExp } } as const;
  try {
    return schemaCheck(newAjv(options, isDraft7 ? 7 : 2020), rest);
  } catch {
    return null;
  }
}

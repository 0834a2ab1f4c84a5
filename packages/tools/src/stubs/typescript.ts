/** Tools as TypeScript declarations, for whoever writes programs that call them. */
import type { Tool } from '../tool.ts';
import { parametersOf, type ToolTree, toolTree } from './tool-tree.ts';

type Schema = Record<string, unknown>;
const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
const KINDS: Record<string, string> = { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' };

export function typescriptStubs(tools: readonly Tool[]): string {
  return `declare const tools: ${group(toolTree(tools), '')};\n`;
}

function group({ tools, groups }: ToolTree, indent: string): string {
  const inner = `${indent}  `;
  const members = [
    ...[...tools].map(([name, tool]) => `${comment(tool, inner)}${inner}${key(name)}(${argumentOf(tool)}): Promise<any>;`),
    ...[...groups].map(([name, tree]) => `${inner}${key(name)}: ${group(tree, inner)};`),
  ];
  return members.length === 0 ? '{}' : `{\n${members.join('\n')}\n${indent}}`;
}

function argumentOf(tool: Tool): string {
  const parameters = parametersOf(tool);
  if (parameters.length === 0) return tool.parameters.properties ? '' : 'args?: Record<string, any>';
  return `args${parameters.some(({ required }) => required) ? '' : '?'}: ${typeOf(tool.parameters)}`;
}

function typeOf(schema: unknown): string {
  if (schema === null || typeof schema !== 'object') return 'any';
  const { type, enum: choices, const: only, items, properties, required, anyOf, oneOf } = schema as Schema;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(choices)) return choices.map((choice) => JSON.stringify(choice)).join(' | ');
  const either = anyOf ?? oneOf;
  if (Array.isArray(either)) return either.map(typeOf).join(' | ');
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one })).join(' | ');
  if (type === 'array') return `Array<${typeOf(items)}>`;
  if (type === 'object' || properties !== undefined) return recordOf(properties as Record<string, Schema> | undefined, required as string[] | undefined);
  return KINDS[String(type)] ?? 'any';
}

function recordOf(properties: Record<string, Schema> | undefined, required: string[] = []): string {
  if (!properties) return 'Record<string, any>';
  const fields = Object.entries(properties).map(([name, schema]) => `${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join('; ')} }`;
}

function comment({ description }: Tool, indent: string): string {
  return description ? `${indent}/** ${description.replaceAll('*/', '* /').replace(/\s*\n\s*/g, ' ')} */\n` : '';
}

const key = (name: string) => (IDENTIFIER.test(name) ? name : JSON.stringify(name));

/** Tools as a Python stub, for whoever writes programs that call them. */
import type { Tool } from '../tool.ts';
import { type Parameter, parametersOf, type ToolTree, toolTree } from './tool-tree.ts';

type Schema = Record<string, unknown>;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const KINDS: Record<string, string> = { string: 'str', number: 'float', integer: 'int', boolean: 'bool', null: 'None' };

export function pythonStubs(tools: readonly Tool[]): string {
  return `from typing import Any, Literal\n\n${group('tools', toolTree(tools), '')}\n`;
}

function group(name: string, { tools, groups }: ToolTree, indent: string): string {
  const inner = `${indent}    `;
  const members = [...[...tools].map(([called, tool]) => method(called, tool, inner)), ...[...groups].map(([called, tree]) => group(called, tree, inner))];
  return `${indent}class ${word(name)}:\n${members.length === 0 ? `${inner}pass` : members.join('\n\n')}`;
}

function method(name: string, tool: Tool, indent: string): string {
  const parameters = parametersOf(tool);
  const given = parameters.length === 0 ? (tool.parameters.properties ? '' : '**arguments: Any') : parameters.map(argument).join(', ');
  const text = tool.description
    .replaceAll('\\', '\\\\')
    .replaceAll('"""', "'''")
    .replace(/\s*\n\s*/g, ' ');
  const body = text ? `\n${indent}    """${text}${text.endsWith('"') ? ' ' : ''}"""` : ' ...';
  return `${indent}@staticmethod\n${indent}def ${word(name)}(${given}) -> Any:${body}`;
}

function argument({ name, schema, required }: Parameter): string {
  return `${word(name)}: ${typeOf(schema)}${required ? '' : ' = ...'}`;
}

function typeOf(schema: unknown): string {
  if (schema === null || typeof schema !== 'object') return 'Any';
  const { type, enum: choices, const: only, items, properties, anyOf, oneOf } = schema as Schema;
  if (only !== undefined) return literal([only]);
  if (Array.isArray(choices)) return literal(choices);
  const either = anyOf ?? oneOf;
  if (Array.isArray(either)) return either.map(typeOf).join(' | ');
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one })).join(' | ');
  if (type === 'array') return `list[${typeOf(items)}]`;
  if (type === 'object' || properties !== undefined) return 'dict[str, Any]';
  return KINDS[String(type)] ?? 'Any';
}

function literal(choices: readonly unknown[]): string {
  const shown = choices.map((choice) => (choice === null ? 'None' : choice === true ? 'True' : choice === false ? 'False' : JSON.stringify(choice)));
  return choices.every((choice) => choice === null || typeof choice !== 'object') ? `Literal[${shown.join(', ')}]` : 'Any';
}

const word = (name: string) => (IDENTIFIER.test(name) ? name : name.replace(/[^A-Za-z0-9_]/g, '_'));

/** Tools as TypeScript declarations, for whoever writes programs that call them. */

import { type Field, type Shape, Shapes } from './shapes.ts';
import type { StubTool } from './stub-tool.ts';
import { type ToolTree, toolTree } from './tool-tree.ts';

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
const KINDS = { any: 'any', bytes: 'Uint8Array | string', string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' } as const;

export function typescriptStubs(tools: readonly StubTool[]): string {
  const shapes = new Shapes();
  const called = group(toolTree(tools), '', shapes);
  const named = [...shapes.named].map(([name, shape]) => `  type ${name} = ${typeOf(shape)};\n`);
  return `${named.length > 0 ? `declare namespace tools {\n${named.join('')}}\n` : ''}declare const tools: ${called};\n`;
}

function group({ tools, groups }: ToolTree, indent: string, shapes: Shapes): string {
  const inner = `${indent}  `;
  const members = [...tools].map(([name, tool]) => {
    const inside = groups.get(name);
    const promise = `Promise<${typeOf(shapes.ofResult(tool))}>`;
    const also = inside ? ` & ${group(inside, inner, shapes)}` : '';
    return `${comment(tool, inner)}${inner}${key(name)}${also ? `: ((${argumentOf(tool, shapes)}) => ${promise})${also}` : `(${argumentOf(tool, shapes)}): ${promise}`};`;
  });
  for (const [name, tree] of groups) if (!tools.has(name)) members.push(`${inner}${key(name)}: ${group(tree, inner, shapes)};`);
  return members.length === 0 ? '{}' : `{\n${members.join('\n')}\n${indent}}`;
}

function argumentOf(tool: StubTool, shapes: Shapes): string {
  const shape = shapes.ofTool(tool);
  const plain = shapes.plain(shape);
  if (plain.is !== 'record') return plain.is === 'any' ? 'args?: { [key: string]: any }' : `args: ${typeOf(shape)}`;
  if (plain.fields.length === 0 && !plain.others) return 'args?: {}';
  return `args${plain.fields.some(({ required }) => required) ? '' : '?'}: ${typeOf(shape)}`;
}

function typeOf(shape: Shape): string {
  switch (shape.is) {
    case 'literals':
      return shape.values.map((value) => JSON.stringify(value)).join(' | ');
    case 'union':
      return shape.of.map(typeOf).join(' | ');
    case 'all':
      return shape.of.map((one) => (isUnion(one) ? `(${typeOf(one)})` : typeOf(one))).join(' & ');
    case 'array':
      return isUnion(shape.of) || shape.of.is === 'all' ? `(${typeOf(shape.of)})[]` : `${typeOf(shape.of)}[]`;
    case 'tuple':
      return `[${shape.of.map(typeOf).join(', ')}]`;
    case 'named':
      return `tools.${shape.name}`;
    case 'record': {
      // An index signature beside named fields has to be of a type that takes them all.
      const others = shape.others ? [`[key: string]: ${shape.fields.length > 0 ? 'any' : typeOf(shape.others)}`] : [];
      const fields = [...shape.fields.map(fieldOf), ...others];
      return fields.length === 0 ? '{}' : `{ ${fields.join('; ')} }`;
    }
    default:
      return KINDS[shape.is];
  }
}

function fieldOf({ name, shape, required, note }: Field): string {
  // An object without such a field has one all the same, of another type.
  const type = !required && name in Object.prototype ? 'any' : typeOf(shape);
  return `${key(name)}${required ? '' : '?'}: ${type}${note ? ` /* ${inComment(note)} */` : ''}`;
}

const isUnion = (shape: Shape) => shape.is === 'union' || shape.is === 'bytes' || (shape.is === 'literals' && shape.values.length > 1);

function comment({ description }: StubTool, indent: string): string {
  return description ? `${indent}/** ${inComment(description)} */\n` : '';
}
const inComment = (text: string) => text.replaceAll('*/', '* /').replace(/\s*\n\s*/g, ' ');

const key = (name: string) => (IDENTIFIER.test(name) ? name : JSON.stringify(name));

/** Tools as a Python stub, for whoever writes programs that call them. */

import { type Field, type RecordShape, type Shape, Shapes } from './shapes.ts';
import type { StubTool } from './stub-tool.ts';
import { type ToolTree, toolTree } from './tool-tree.ts';

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);
const KINDS = { any: 'Any', bytes: 'bytes | str', string: 'str', number: 'float', integer: 'int', boolean: 'bool', null: 'None' } as const;

export function pythonStubs(tools: readonly StubTool[]): string {
  const stub = new PythonStub();
  const called = stub.group('tools', toolTree(tools), '');
  const types = stub.types();
  if (types.length === 0) return `from typing import Any, Literal\n\n${called}\n`;
  return `from __future__ import annotations\nfrom typing import Any, Literal, NotRequired, TypedDict\n\n${types.join('\n')}\n\n${called}\n`;
}

class PythonStub {
  readonly #shapes = new Shapes();
  /** Records have no form inside of an expression, so each has a name; by what they are. */
  readonly #records = new Map<string, { name: string; record: RecordShape }>();
  readonly #written = new Map<string, string>();

  group(name: string, { tools, groups }: ToolTree, indent: string, path = ''): string {
    const inner = `${indent}    `;
    const members = [
      ...[...tools].map(([called, tool]) => this.#method(called, tool, inner)),
      ...[...groups].map(([called, tree]) => this.group(called, tree, inner, `${path}${called}.`)),
    ];
    return `${indent}class ${word(name)}:\n${members.length === 0 ? `${inner}pass` : members.join('\n\n')}`;
  }

  /** What the methods name, all that it names itself included. */
  types(): string[] {
    for (const [name, shape] of this.#shapes.named) {
      if (this.#isRecord(shape)) continue;
      const type = this.#type(shape, name);
      // What it names may come later, and only in a text it may.
      this.#written.set(name, `${name} = ${shape.is === 'literals' || shape.is in KINDS ? type : JSON.stringify(type)}`);
    }
    // Writing one may find more.
    for (const { name, record } of this.#records.values()) this.#written.set(name, this.#typedDict(name, record));
    return [...this.#written.values()];
  }

  #method(name: string, tool: StubTool, indent: string): string {
    const text = `${KEYWORDS.has(name) ? `Called as tools[${JSON.stringify(tool.name)}]. ` : ''}${tool.description}`
      .replaceAll('\\', '\\\\')
      .replaceAll('"""', "'''")
      .replace(/\s*\n\s*/g, ' ')
      .trim();
    const body = text ? `\n${indent}    """${text}${text.endsWith('"') ? ' ' : ''}"""` : ' ...';
    return `${indent}@staticmethod\n${indent}def ${word(name)}(${this.#arguments(tool)}) -> ${this.#type(this.#shapes.ofResult(tool), `${tool.name}_result`)}:${body}`;
  }

  #arguments(tool: StubTool): string {
    const shape = this.#shapes.ofTool(tool);
    const record = this.#merged(shape);
    if (!record) return this.#shapes.plain(shape).is === 'any' ? '**arguments: Any' : `arguments: ${this.#type(shape, tool.name)}`;
    const { fields, others } = record;
    // Such names can be given in a record only.
    if (fields.some(({ name }) => !isName(name) || isMangled(name))) return `arguments: ${this.#type(record, `${tool.name}_arguments`)}`;
    const inOrder = [...fields.filter(({ required }) => required), ...fields.filter(({ required }) => !required)];
    const byName = inOrder.some((field, i) => field !== fields[i]) ? ['*'] : [];
    return [...byName, ...inOrder.map((field) => this.#argument(tool, field)), ...(others ? ['**arguments: Any'] : [])].join(', ');
  }

  #argument(tool: StubTool, field: Field): string {
    const standard = field.default === undefined ? '...' : literal(field.default);
    return `${field.name}: ${this.#type(field.shape, `${tool.name}_${field.name}`)}${field.required ? '' : ` = ${standard}`}`;
  }

  /** `called`: a name for it, if it needs one. */
  #type(shape: Shape, called: string): string {
    switch (shape.is) {
      case 'literals':
        return `Literal[${shape.values.map(literal).join(', ')}]`;
      case 'union':
        return [...new Set(shape.of.map((one, i) => this.#type(one, `${called}_${i + 1}`)))].join(' | ');
      case 'all': {
        const record = this.#merged(shape);
        return record ? this.#type(record, called) : this.#type(shape.of[0] as Shape, called);
      }
      case 'array':
        return `list[${this.#type(shape.of, `${called}_item`)}]`;
      case 'tuple':
        return `list[${[...new Set(shape.of.map((one, i) => this.#type(one, `${called}_${i + 1}`)))].join(' | ') || 'Any'}]`;
      case 'named': {
        const plain = this.#shapes.named.get(shape.name);
        return plain && this.#isRecord(plain) ? this.#recordName(this.#merged(plain) as RecordShape, shape.name, shape.name) : shape.name;
      }
      case 'record':
        if (shape.fields.length === 0) return `dict[str, ${shape.others ? this.#type(shape.others, `${called}_value`) : 'Any'}]`;
        return this.#recordName(shape, called);
      default:
        return KINDS[shape.is];
    }
  }

  #recordName(record: RecordShape, called: string, fixed?: string): string {
    const key = fixed ?? JSON.stringify(record);
    const known = this.#records.get(key);
    if (known) return known.name;
    const name = fixed ?? this.#shapes.newName(called.slice(called.indexOf('.') + 1));
    this.#records.set(key, { name, record });
    return name;
  }

  #typedDict(name: string, { fields }: RecordShape): string {
    const types = fields.map(({ name: field, shape, required }) => {
      const type = this.#type(shape, `${name}_${field}`);
      return { field, type: required ? type : `NotRequired[${type}]` };
    });
    if (fields.every(({ name }) => isName(name) && !isMangled(name))) {
      return `class ${name}(TypedDict):\n${types.map(({ field, type }, i) => `    ${field}: ${type}${noteOf(fields[i] as Field)}`).join('\n')}`;
    }
    return `${name} = TypedDict(${JSON.stringify(name)}, {${types.map(({ field, type }) => `${JSON.stringify(field)}: ${JSON.stringify(type)}`).join(', ')}})`;
  }

  #isRecord(shape: Shape): boolean {
    const record = this.#merged(shape);
    return record !== undefined && record.fields.length > 0;
  }

  /** One record of all that a shape demands, if it demands nothing else. */
  #merged(shape: Shape, depth = 0): RecordShape | undefined {
    const plain = this.#shapes.plain(shape);
    if (plain.is === 'record') return plain;
    if (plain.is !== 'all' || depth > 20) return undefined;
    const records = plain.of.map((one) => this.#merged(one, depth + 1)).filter((record) => record !== undefined);
    if (records.length === 0) return undefined;
    const fields = new Map(records.flatMap((record) => record.fields.map((field) => [field.name, field] as const)));
    const others = records.find((record) => record.others)?.others;
    return { is: 'record', fields: [...fields.values()], ...(others ? { others } : {}) };
  }
}

const noteOf = ({ note }: Field) => (note ? `  # ${note.replace(/\s*\n\s*/g, ' ')}` : '');
/** Inside of a class such a name stands for another one. */
const isMangled = (name: string) => name.startsWith('__');
const isName = (name: string) => IDENTIFIER.test(name) && !KEYWORDS.has(name);
const literal = (value: string | number | boolean | null) => (value === null ? 'None' : value === true ? 'True' : value === false ? 'False' : JSON.stringify(value));

function word(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_]/g, '_');
  return KEYWORDS.has(plain) ? `${plain}_` : plain;
}

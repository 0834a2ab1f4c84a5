/** The wire: requests become what the engine takes, or are refused; what is shown fits its schema. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FermataError } from '../src/errors.ts';
import { limitsSchema } from '../src/limits-schema.ts';
import { parseOptions } from '../src/options.ts';
import { constraintsSchema, limitsOf } from '../src/wire/constraints.ts';
import { createTaskSchema, taskRequestSchema, toTaskRequest } from '../src/wire/task-request.ts';

test('every limit that the wire lets through, the engine takes too', () => {
  const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
  const seconds = fc.double({ min: -1, max: 1e6, noNaN: true });
  const given = fc.record({
    timeout_seconds: some(seconds),
    max_cpu_seconds: some(seconds),
    max_memory_mb: some(fc.double({ min: -1, max: 4000, noNaN: true })),
    max_disk_mb: some(fc.double({ min: -1, max: 3000, noNaN: true })),
    max_output_bytes: some(fc.integer({ min: -5, max: 2 ** 31 })),
    max_tool_calls: some(fc.integer({ min: -5, max: 1e6 })),
  });
  fc.assert(
    fc.property(given, (constraints) => {
      const parsed = constraintsSchema.safeParse(constraints);
      if (parsed.success) limitsSchema.parse(limitsOf(parsed.data));
    }),
  );
});

test('minimums on the wire are those of the engine', () => {
  expect(limitsOf(constraintsSchema.parse({ timeout_seconds: 0.01, max_memory_mb: 1, max_disk_mb: 0, max_tool_calls: 0 }))).toEqual({
    ...{ timeoutMs: 10, maxMemoryBytes: 1024 * 1024, maxDiskBytes: 0, maxToolCalls: 0 },
  });
  for (const low of [{ timeout_seconds: 0.009 }, { max_cpu_seconds: 0 }, { max_memory_mb: 0.9 }, { max_disk_mb: -1 }, { max_processes: 0 }])
    expect(constraintsSchema.safeParse(low).success).toBe(false);
});

test('a tool call becomes a program of ours, with its arguments as they are', () => {
  const request = toTaskRequest(taskRequestSchema.parse({ tool_call: { name: 'add', arguments: { n: [1, { $fermata: ['integer', '9007199254740993'] }] } } }));
  expect(request).toMatchObject({ language: 'javascript', toolCall: { name: 'add', arguments: { n: [1, { $fermata: ['integer', '9007199254740993'] }] } } });
  expect(request.input).toEqual({ name: 'add', arguments: { n: [1, { $fermata: ['integer', '9007199254740993'] }] } });
});

test('a key that the wire does not know is refused with the nearest name, at its place', () => {
  const refusal = (body: unknown) => {
    try {
      parseOptions(createTaskSchema, body);
      return 'accepted';
    } catch (error) {
      return (error as FermataError).message;
    }
  };
  expect(refusal({ taskId: 'x' })).toBe('there is no "taskId"; did you mean "task_id"?');
  expect(refusal({ tool_constraints: { memory_mb: 1 } })).toContain('tool_constraints: there is no "memory_mb"; did you mean "max_memory_mb"?');
  expect(refusal({ policy: [{ tool: 'a', action: 'deny', when: { x: { gtt: 1 } } }] })).toContain('policy');
});

test('any body is taken or refused by a named error', () => {
  fc.assert(
    fc.property(
      fc.anything(),
      fc.dictionary(fc.constantFrom('code', 'language', 'input', 'tools', 'policy', 'files', 'tool_call', 'tool_constraints'), fc.jsonValue()),
      (anything, body) => {
        for (const given of [anything, body]) {
          try {
            toTaskRequest(parseOptions(taskRequestSchema, given));
          } catch (error) {
            if (!(error instanceof FermataError)) throw error;
          }
        }
      },
    ),
  );
});

/** How errors look on the wire: RFC 9457 problem details with a stable code. */
import { z } from 'zod';

export const problemSchema = z
  .object({
    type: z.string().meta({ description: 'Where the code is explained' }),
    title: z.string().meta({ description: 'What the code means' }),
    status: z.int(),
    detail: z.string().meta({ description: 'What is wrong here' }),
    code: z.string().meta({ description: 'Stable; see docs/errors.md' }),
    hint: z.string().optional().meta({ description: 'What to do about it' }),
    line: z.int().optional(),
    column: z.int().optional(),
    instance: z.string().optional(),
  })
  .meta({ id: 'Problem' });

export type ProblemWire = z.output<typeof problemSchema>;

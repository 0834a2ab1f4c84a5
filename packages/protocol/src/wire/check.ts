/** What the check of a program answers. */
import { z } from 'zod';

export const findingSchema = z
  .object({
    rule: z.string().meta({ description: 'What is wrong; of an error, the code of the task that it ends' }),
    severity: z.enum(['error', 'warning']).meta({ description: 'error: the program is not run' }),
    line: z.int(),
    column: z.int(),
    message: z.string().meta({ description: 'What is wrong and what to write instead, in one sentence' }),
  })
  .meta({ id: 'Finding' });

export const checkedSchema = z.object({ ok: z.boolean().meta({ description: 'No finding is an error' }), findings: z.array(findingSchema) }).meta({ id: 'Checked' });

export type FindingWire = z.output<typeof findingSchema>;
export type CheckedWire = z.output<typeof checkedSchema>;

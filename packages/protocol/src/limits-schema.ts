/** The schema of limits as they are asked for; what is absent gets its default. */
import { z } from 'zod';
import { LIMIT_BOUNDS, type Limits } from './limits.ts';
import { strictOptions } from './strict-options.ts';

const shape = Object.fromEntries(
  Object.entries(LIMIT_BOUNDS).map(([name, { least, most, default: preset }]) => [name, z.number().int().min(least).max(most).default(preset)]),
) as Record<keyof Limits, z.ZodDefault<z.ZodNumber>>;

export const limitsSchema = strictOptions(shape).prefault({});

/** API keys, as a server's local socket shows them. */
import { z } from 'zod';
import { strictOptions } from '../strict-options.ts';
import { timeSchema } from './scalars.ts';

const scopes = z.array(z.enum(['read', 'run', 'approve', 'admin'])).min(1);

export const createKeySchema = strictOptions({
  tenant: z.string().min(1).max(256).default('default'),
  scopes: scopes.default(['read', 'run', 'approve']),
  name: z.string().max(256).optional(),
  expires_after_seconds: z.number().min(1).optional(),
}).meta({ id: 'CreateKey' });

const keyShape = { key_id: z.string(), tenant: z.string(), name: z.string(), scopes, created_at: timeSchema, expires_at: timeSchema.nullable() };
export const keySchema = z.object(keyShape).meta({ id: 'Key' });
export const createdKeySchema = z.object({ ...keyShape, key: z.string().meta({ description: 'Told here and never again' }) }).meta({ id: 'CreatedKey' });
export const keysSchema = z.object({ items: z.array(keySchema) }).meta({ id: 'Keys' });

export type CreateKeyWire = z.input<typeof createKeySchema>;
export type KeyWire = z.output<typeof keySchema>;
export type CreatedKeyWire = z.output<typeof createdKeySchema>;
export type KeysWire = z.output<typeof keysSchema>;

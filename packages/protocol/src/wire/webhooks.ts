/** Webhooks: endpoints that are told, what they are told, and how it went. */
import { z } from 'zod';
import { strictOptions } from '../strict-options.ts';
import { pageOf, pageQuery, timeSchema } from './scalars.ts';
import { callbackUrlSchema } from './task-request.ts';

const EVENT = /^(\*|(task|batch)\.(\*|[a-z_]+))$/;

export const createWebhookSchema = strictOptions({
  url: callbackUrlSchema,
  types: z
    .array(z.string().regex(EVENT, 'a type such as "task.succeeded", or "task.*"'))
    .min(1)
    .max(50)
    .optional()
    .meta({ description: 'What it is told of; default: everything' }),
  description: z.string().max(1000).optional(),
}).meta({ id: 'CreateWebhook' });

const webhookShape = {
  webhook_id: z.string(),
  url: z.string(),
  types: z.array(z.string()),
  description: z.string(),
  created_at: timeSchema,
  disabled_reason: z.string().nullable(),
};
export const webhookSchema = z.object(webhookShape).meta({ id: 'Webhook' });
export const createdWebhookSchema = z.object({ ...webhookShape, secret: z.string().meta({ description: 'Shown this once' }) }).meta({ id: 'CreatedWebhook' });
export const webhookPageSchema = pageOf(webhookSchema).meta({ id: 'WebhookPage' });
export const callbackSecretSchema = z.object({ secret: z.string() }).meta({ id: 'CallbackSecret', description: 'Signs what callback_url is told' });

export const deliverySchema = z
  .object({
    delivery_id: z.string().meta({ description: 'Its webhook-id' }),
    webhook_id: z.string().nullable(),
    url: z.string(),
    type: z.string(),
    task_id: z.string().nullable(),
    batch_id: z.string().nullable(),
    status: z.enum(['pending', 'delivered', 'failed']),
    created_at: timeSchema,
    next_at: timeSchema.nullable(),
    tries: z.int(),
    attempts: z.array(z.object({ at: timeSchema, status: z.int().nullable(), error: z.string().nullable(), duration_ms: z.int() })),
  })
  .meta({ id: 'Delivery' });
export const deliveryPageSchema = pageOf(deliverySchema).meta({ id: 'DeliveryPage' });
export const deliveryQuerySchema = strictOptions(pageQuery);

export type CreateWebhookWire = z.input<typeof createWebhookSchema>;
export type WebhookWire = z.output<typeof webhookSchema>;
export type CreatedWebhookWire = z.output<typeof createdWebhookSchema>;
export type DeliveryWire = z.output<typeof deliverySchema>;
export type DeliveryPageWire = z.output<typeof deliveryPageSchema>;
/** The body of a webhook. */
export interface WebhookPayload {
  type: string;
  created_at: string;
  data: unknown;
}

/** The models that a chat can ask for. */
import type { FermataError, Model, Models } from '@fermata/protocol';
import { ChatRefusal } from './openai-error.ts';

/** Stands for the default of the deployment. */
const DEFAULT = 'default';

/**
 * A model by its full name, or by the name that its provider gives it, where that is the provider of the default: an app goes on
 * asking for what it asked for before. Throws {@link ChatRefusal} `model_not_found`.
 */
export function chatModel(models: Models | undefined, asked: string): Model {
  if (!models) throw new ChatRefusal('no model is configured here: the server must be started with one', { status: 404, param: 'model', code: 'model_not_found' });
  const { defaultName } = models;
  const [provider] = defaultName?.split('/') ?? [];
  const names = asked === DEFAULT && defaultName !== undefined ? [defaultName] : [asked, ...(provider === undefined ? [] : [`${provider}/${asked}`])];
  let fault: unknown;
  for (const name of names) {
    try {
      return models.find(name);
    } catch (error) {
      fault ??= error;
    }
  }
  const { message, hint } = fault as FermataError;
  const text = `the model ${JSON.stringify(asked)} cannot be had here: ${message}${hint ? `. ${hint}` : ''}`;
  throw new ChatRefusal(text, { status: 404, param: 'model', code: 'model_not_found', cause: fault });
}

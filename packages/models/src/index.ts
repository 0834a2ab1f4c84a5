/** What the package `@fermata/models` offers. */
export { createModels } from './providers/create-models.ts';
export type { ModelOptions, ModelsOptions, ProviderKind, ProviderOptions, TokenPrice } from './providers/models-options.ts';

/** The models that an engine of the command line has: by the options of the command, the environment and the configuration. */
import type { ModelsOptions } from '@fermata/models';

export interface ModelCommandOptions {
  model?: string;
  config?: string;
}

/** `anyScript`: for a folder whose tasks are all its owner's, who may have them go on with the script that they were begun with. */
export async function modelsFor({ model, config = configOfEnvironment() }: ModelCommandOptions, anyScript: boolean): Promise<ModelsOptions> {
  const configured = config === undefined ? {} : await (await import('./serve-config.ts')).loadModelsConfig(config);
  const name = model ?? (process.env.FERMATA_MODEL || undefined);
  return { ...configured, ...(name === undefined ? {} : { default: name }), anyScript };
}

export function configOfEnvironment(): string | undefined {
  return process.env.FERMATA_CONFIG || undefined;
}

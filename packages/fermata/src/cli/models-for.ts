/** The models that an engine of the command line has: by the options of the command, the environment and the configuration. */
import type { Models } from '@fermata/protocol';
import type { Command } from 'commander';

export interface ModelCommandOptions {
  model?: string;
  config?: string;
}

export function addModelOptions(command: Command): Command {
  return command
    .option('-m, --model <name>', '<provider>/<model>, or scripted:<file> (default: FERMATA_MODEL, else that of the configuration)')
    .option('-c, --config <file>', 'JSON with models and their providers (default: FERMATA_CONFIG)');
}

/** `anyScript`: for a folder whose tasks are all its owner's, who may have them go on with the script that they were begun with. */
export async function modelsFor({ model, config = configOfEnvironment() }: ModelCommandOptions, anyScript: boolean): Promise<Models & AsyncDisposable> {
  const { createModels } = await import('@fermata/models');
  const configured = config === undefined ? {} : await (await import('./serve-config.ts')).loadModelsConfig(config);
  const name = model ?? (process.env.FERMATA_MODEL || undefined);
  return createModels({ ...configured, ...(name === undefined ? {} : { default: name }), anyScript });
}

export function configOfEnvironment(): string | undefined {
  return process.env.FERMATA_CONFIG || undefined;
}

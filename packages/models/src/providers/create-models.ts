/**
 * The models of a deployment, by their names: those of known providers, for which a key in the environment is enough, those of
 * configured ones, and scripted ones. A name is looked up when it is asked for, so a key may come later than the process.
 */
import { resolve } from 'node:path';
import { FermataError, type Model, type Models, nearestName } from '@fermata/protocol';
import { createScriptedModel, type ScriptedModel } from '../scripted/scripted-model.ts';
import type { FailedTry } from './failed-try.ts';
import { checkModelsOptions, kindOf, type ModelsOptions, PROVIDER_KINDS, type ProviderOptions, VARIABLES } from './models-options.ts';
import { createProviderModel } from './provider-model.ts';

const TIMEOUT_MS = 600_000;
const MAX_RETRIES = 4;
const MAX_RETRY_WAIT_MS = 60_000;
const SCRIPTED = 'scripted:';
const KNOWN = PROVIDER_KINDS.filter((kind) => kind !== 'openai-compatible');

/** Throws `invalid_request` where the options are wrong. To be disposed of: scripted models have servers. */
export function createModels(options: ModelsOptions = {}): Models & AsyncDisposable {
  checkModelsOptions(options);
  const { providers = {}, environment = process.env, anyScript = false } = options;
  const named = options.default ?? (environment.FERMATA_MODEL || undefined);
  const defaultName = named?.startsWith(SCRIPTED) ? inFull(named) : named;
  const scripted = new Map<string, ScriptedModel>();

  function script(name: string): Model {
    if (!anyScript && name !== defaultName) {
      throw new FermataError('model_error', `the script of ${name} is not loaded here`, { hint: 'Only whoever starts the engine chooses a script, as its default model.' });
    }
    const model = scripted.get(name) ?? createScriptedModel(name, name.slice(SCRIPTED.length));
    scripted.set(name, model);
    return model;
  }

  function find(name: string): Model {
    if (name.startsWith(SCRIPTED)) return script(inFull(name));
    const slash = name.indexOf('/');
    const provider = slash < 0 ? name : name.slice(0, slash);
    const model = name.slice(slash + 1);
    const names = [...new Set([...KNOWN, ...Object.keys(providers)])];
    if (slash < 0 || model === '')
      throw new FermataError('model_error', `the model ${name} has no provider in its name`, {
        hint: `Write it as <provider>/<model>, with one of ${names.join(', ')}; or as scripted:<file>.`,
      });
    if (!isModelName(model)) {
      throw new FermataError('model_error', `${JSON.stringify(name.slice(0, 200))} is not the name of a model`, {
        hint: 'Letters, digits and marks such as - _ . : / @ are in it, and no part of it is `..`.',
      });
    }
    if (!names.includes(provider)) {
      const near = nearestName(provider, names);
      const hint = `${near === undefined ? '' : `Did you mean ${near}/${model}? `}There are ${names.join(', ')}; another needs models.providers.${provider}.base_url in the configuration.`;
      throw new FermataError('model_error', `there is no provider ${provider}, which the model ${name} would be of`, { hint });
    }
    return providerModel(name, provider, model, providers[provider] ?? {}, environment);
  }

  const dispose = async () => {
    for (const model of scripted.values()) await model.close();
  };
  const configured = Object.entries(providers).flatMap(([provider, { models = {} }]) => Object.keys(models).map((model) => `${provider}/${model}`));
  const known = [...new Set([...(defaultName === undefined ? [] : [defaultName]), ...configured])];
  return { defaultName, known, find, [Symbol.asyncDispose]: dispose };
}

/** Some providers have the name in the path of their address: it must lead to nothing but a model. */
function isModelName(model: string): boolean {
  return /^[^\s?#%\\\p{Cc}]+$/u.test(model) && !model.split('/').some((part) => part === '..' || part === '.');
}

/** With the whole path of its file: a task may go on in a process elsewhere. */
function inFull(name: string): string {
  return `${SCRIPTED}${resolve(name.slice(SCRIPTED.length))}`;
}

function providerModel(name: string, provider: string, model: string, options: ProviderOptions, environment: Record<string, string | undefined>): Model {
  const kind = kindOf(provider, options.kind);
  const variables = options.keyVariable === undefined ? VARIABLES[kind].keys : [options.keyVariable];
  const variable = variables.find((candidate) => environment[candidate]);
  const key = variable === undefined ? undefined : environment[variable];
  if (variables.length > 0 && key === undefined) {
    throw new FermataError('model_error', `the model ${name} needs an API key, and there is none in ${variables.join(' or ')}`, {
      hint: `Set ${variables[0]} in the environment of the process that runs the tasks.`,
    });
  }
  const { baseUrl: urlVariable } = VARIABLES[kind];
  const baseUrl = options.baseUrl ?? (urlVariable === undefined ? undefined : environment[urlVariable] || undefined);
  const { price, maxTokens } = options.models?.[model] ?? {};
  const { headers = {}, timeoutMs = TIMEOUT_MS, maxRetries = MAX_RETRIES, maxRetryWaitMs = MAX_RETRY_WAIT_MS } = options;
  return createProviderModel({
    ...{ name, provider, kind, model, headers, timeoutMs, maxRetries, maxRetryWaitMs, maxTokens, price },
    // The key never shows in an error.
    access: { ...(key === undefined ? {} : { apiKey: key }), ...(baseUrl === undefined ? {} : { baseURL: baseUrl }) },
    advice: (failed) => advice(failed, { provider, variable, baseUrl, models: Object.keys(options.models ?? {}) }),
  });
}

function advice({ status, waitMs }: FailedTry, about: { provider: string; variable: string | undefined; baseUrl: string | undefined; models: string[] }): string | undefined {
  const { provider, variable, baseUrl, models } = about;
  if (status === 401 || status === 403)
    return variable === undefined ? `Configure models.providers.${provider}.key_variable.` : `Look whether the key in ${variable} is right, and may use this model.`;
  if (status === 404)
    return models.length > 0
      ? `Models of ${provider} that are configured: ${models.join(', ')}.`
      : `Look whether ${provider} has a model of this name, and whether its address is right.`;
  if (status === 429) return waitMs === undefined ? `Look at the limits of your account with ${provider}.` : 'Try again later.';
  if (status !== undefined) return status >= 500 ? 'Try again later.' : undefined;
  return baseUrl === undefined ? 'Look whether this machine reaches the provider.' : `Look whether a server answers at ${baseUrl}.`;
}

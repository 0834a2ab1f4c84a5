/**
 * A scripted model of this process, for demos: its server is started when it is asked first, and it is asked over HTTP like any other.
 * A process that goes on with a task starts it anew; the conversation tells it where it stands.
 */
import { FermataError, type Model } from '@fermata/protocol';
import { createProviderModel } from '../providers/provider-model.ts';
import { loadScript } from './script.ts';
import { createScriptedServer, type ScriptedServer } from './scripted-server.ts';

export interface ScriptedModel extends Model {
  close(): Promise<void>;
}

const TIMEOUT_MS = 60_000;
const MAX_RETRIES = 4;
const MAX_RETRY_WAIT_MS = 10_000;

async function startServer(file: string): Promise<ScriptedServer> {
  try {
    return await createScriptedServer(await loadScript(file));
  } catch (error) {
    const { message, hint = `Look at ${file}.` } = error as FermataError;
    throw new FermataError('model_error', message, { hint });
  }
}

/** `name`: as it is asked for. */
export function createScriptedModel(name: string, file: string): ScriptedModel {
  let started: Promise<ScriptedServer> | undefined;
  const start = () => (started ??= startServer(file));
  return {
    name,
    async generate(request, options) {
      const { url } = await start();
      const model = createProviderModel({
        ...{
          name,
          provider: 'scripted',
          kind: 'openai-compatible',
          model: 'scripted',
          access: { baseURL: `${url}/v1` },
          headers: {},
          timeoutMs: TIMEOUT_MS,
          maxRetries: MAX_RETRIES,
          maxRetryWaitMs: MAX_RETRY_WAIT_MS,
          maxTokens: undefined,
          price: undefined,
        },
        advice: () => `Look at ${file}.`,
      });
      return model.generate(request, options);
    },
    async close() {
      // What was not as expected has been told to the task, as the answer to its request.
      await (await started?.catch(() => undefined))?.close().catch(() => {});
    },
  };
}

/** From a body that asks for a task to the engine's request: with the files that it names, for the tenant that asks. */
import { FermataError, type TaskRequest } from '@fermata/protocol';
import { type createTaskSchema, type taskRequestSchema, toTaskRequest } from '@fermata/protocol/wire';
import { withSafeNames } from '@fermata/tools/registry';
import type { z } from 'zod';
import type { ServerContext } from '../server-options.ts';
import { blobNamed } from '../task-files.ts';

type Given = z.output<typeof taskRequestSchema> | Omit<z.output<typeof createTaskSchema>, 'wait_seconds'>;

export async function requestOf(server: ServerContext, tenant: string, given: Given): Promise<TaskRequest> {
  const blobs = new Map<string, string>();
  // What is wrong with the body itself is told first.
  toTaskRequest(given, blobs);
  for (const { file_id } of given.files ?? []) {
    const blob = await blobNamed(server, tenant, file_id);
    if (blob === undefined) throw new FermataError('invalid_request', `files: there is no file ${JSON.stringify(file_id)}`, { hint: 'Upload it with POST /files first.' });
    blobs.set(file_id, blob);
  }
  if (given.callback_url !== undefined) await server.endpoints.refusePrivate(given.callback_url, 'callback_url');
  const request = toTaskRequest(given, blobs);
  return request.clientTools ? { ...request, clientTools: withSafeNames(request.clientTools) } : request;
}

/** Nothing new is begun while the server closes, or where the engine takes nothing. */
export function mustAccept(server: ServerContext): void {
  if (server.draining.aborted || !server.engine.status.accepting) {
    throw new FermataError('resources_exhausted', 'the server takes no new tasks now', { hint: 'Send it again after the time that Retry-After says.' });
  }
}

/** The same body, with an error that says which member of a list it is about. */
export async function within<T>(place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FermataError)) throw error;
    const { code, message, hint, line, column } = error;
    throw new FermataError(code, `${place}: ${message}`, {
      ...(hint === undefined ? {} : { hint }),
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
      cause: error,
    });
  }
}

/** Resources: newest tasks, and what can be read of any task and file whose id is known. Too large ones are read in pieces, by tools. */
import { FermataApiError, type FermataClient } from '@fermata/client';
import type { ListResourcesResult, ListResourceTemplatesResult, ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { textIn } from './file-text.ts';
import { readUri, resourceUri, TASK_PARTS } from './resource-uri.ts';
import { showTask } from './shown-task.ts';
import { taskText } from './task-text.ts';

const NEWEST = 50;
const MAX_BYTES = 1024 * 1024;
/** The protocol's code for a resource that is not there. */
const NOT_FOUND = -32002;

export async function listResources({ tasks }: FermataClient): Promise<ListResourcesResult> {
  const { items } = await tasks.list({ limit: NEWEST });
  return {
    resources: items.map(({ task_id, status, language, created_at }) => ({
      ...{ uri: resourceUri.task(task_id), name: task_id, mimeType: 'application/json' },
      description: `${language === null ? 'An instruction' : `A ${language} program`} of ${created_at}: ${status}`,
    })),
  };
}

export function resourceTemplates(): ListResourceTemplatesResult {
  const about = (what: string) => `fermata://tasks/{task_id}${what}`;
  return {
    resourceTemplates: [
      { uriTemplate: about(''), name: 'task', description: 'A task: its state, result, output and files', mimeType: 'application/json' },
      ...TASK_PARTS.map((part) => ({ uriTemplate: about(`/${part}`), name: `task_${part}`, description: `The ${part} of a task, whole`, mimeType: typeOf(part) })),
      { uriTemplate: 'fermata://files/{file_id}', name: 'file', description: 'A file that was uploaded or that a task has left' },
    ],
  };
}

/** Throws the protocol's errors, since reading a resource has no other way to fail. */
export async function readResource(client: FermataClient, uri: string): Promise<ReadResourceResult> {
  const address = readUri(uri);
  if (!address) throw new McpError(NOT_FOUND, `there is no resource ${uri.slice(0, 200)}`);
  try {
    if ('fileId' in address) return { contents: [fileContents(uri, await client.files.get(address.fileId))] };
    const { taskId, part } = address;
    const text = part === undefined ? JSON.stringify(showTask(await client.tasks.get(taskId))) : await taskText(client, taskId, part);
    if (text.length > MAX_BYTES) throw tooLarge(text.length, 'read_output');
    return { contents: [{ uri, mimeType: part === undefined ? 'application/json' : typeOf(part), text }] };
  } catch (error) {
    if (error instanceof McpError) throw error;
    if (error instanceof FermataApiError && error.status === 404) throw new McpError(NOT_FOUND, error.message);
    throw new McpError(ErrorCode.InvalidRequest, error instanceof Error ? error.message : String(error));
  }
}

function fileContents(uri: string, bytes: Uint8Array) {
  if (bytes.length > MAX_BYTES) throw tooLarge(bytes.length, 'download_file');
  const text = textIn(bytes);
  return text === undefined ? { uri, mimeType: 'application/octet-stream', blob: Buffer.from(bytes).toString('base64') } : { uri, mimeType: 'text/plain', text };
}

function tooLarge(size: number, tool: string): McpError {
  return new McpError(ErrorCode.InvalidRequest, `it is ${size} long, and a resource is read whole up to ${MAX_BYTES} only; ${tool} reads it in pieces`);
}

const typeOf = (part: (typeof TASK_PARTS)[number]) => (part === 'result' ? 'application/json' : 'text/plain');

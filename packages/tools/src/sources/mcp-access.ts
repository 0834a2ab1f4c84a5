/**
 * How requests are let in by an MCP server over HTTP: by the headers of the source, or by OAuth with the credentials of a client.
 *
 * Headers of the source go to its own server only, the credentials to the authorization server that the configuration names, whatever
 * others a server tells of; every address on the way is checked as that of the server is.
 */
import { FermataError } from '@fermata/protocol';
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { guardedFetch } from '../net/guarded-fetch.ts';
import { secretHeaders, secretText } from './secret-headers.ts';
import type { McpOAuth, McpSourceOptions } from './source-options.ts';
import type { SourceContext } from './tool-source.ts';

/** `name`: of the source. Throws a tool's error `SecretMissing`. */
export async function httpTransport(name: string, { url: given, headers, oauth }: McpSourceOptions, { guard, secret }: SourceContext): Promise<StreamableHTTPClientTransport> {
  const url = new URL(given as string);
  const label = `the tool source ${name}`;
  const own = await secretHeaders(label, headers, secret);
  const reach = guardedFetch(guard);
  const fetch: typeof reach = (asked, init = {}) => (new URL(asked).origin === url.origin ? reach(asked, init) : reach(asked, { ...init, headers: without(own, init.headers) }));
  const authProvider = oauth && clientOf(oauth, await secretText(label, oauth.clientSecret, secret));
  return new StreamableHTTPClientTransport(url, { requestInit: { headers: own }, fetch, ...(authProvider ? { authProvider } : {}) });
}

/** What a server means that does not let us in, and what to do about it; undefined for any other error. */
export function accessFault(name: string, { oauth, headers }: McpSourceOptions, error: unknown): FermataError | undefined {
  const status = error instanceof StreamableHTTPError ? error.code : undefined;
  const signsIn = oauth !== undefined && error instanceof Error && !(error instanceof StreamableHTTPError) && isOfOAuth(error);
  if (status !== 401 && status !== 403 && !signsIn) return undefined;
  if (signsIn) {
    return new FermataError('source_failed', `the tool source ${name} cannot sign in at ${oauth.issuer}: ${error.message.slice(0, MOST_TOLD)}`, {
      hint: 'Look at issuer, clientId, clientSecret and scope of its oauth (issuer, client_id, client_secret on the wire).',
      cause: error,
    });
  }
  const given = oauth || Object.keys(headers ?? {}).some((header) => header.toLowerCase() === 'authorization');
  const problem = status === 401 ? (given ? 'does not take its credentials' : 'asks for credentials') : 'does not allow it what it asks for';
  return new FermataError('source_failed', `the server of the tool source ${name} ${problem} (${status})`, {
    hint: given ? 'Look at the token, or at the scope, that the source is configured with.' : GIVE_CREDENTIALS,
    cause: error as Error,
  });
}

const MOST_TOLD = 500;
const GIVE_CREDENTIALS =
  "Give the source headers, { Authorization: { secret: 'name', prefix: 'Bearer ' } }, or oauth: { issuer, clientId, clientSecret: { secret: 'name' } } for the client credentials grant.";

function clientOf({ issuer, clientId, scope }: McpOAuth, clientSecret: string): ClientCredentialsProvider {
  return new ClientCredentialsProvider({ clientName: 'fermata', clientId, clientSecret, expectedIssuer: issuer, ...(scope === undefined ? {} : { scope }) });
}

/** The SDK's errors of signing in have classes of their own, and some are plain ones. */
function isOfOAuth(error: Error): boolean {
  return 'errorCode' in error || /oauth|unauthorized|authorization|token|credentials|issuer|metadata/i.test(`${error.name} ${error.message}`);
}

function without(own: Record<string, string>, headers: RequestInit['headers']): Headers {
  const left = new Headers(headers);
  for (const [name, value] of Object.entries(own)) if (left.get(name) === value) left.delete(name);
  return left;
}

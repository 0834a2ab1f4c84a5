/** The sessions of the MCP server over the API of this process. Apart, because a server that nobody asks by MCP need not load it. */
import { createClient, fetchFrom } from '@fermata/client';
import { type Caller, may, type Scope } from '../auth/caller.ts';
import type { ServerContext, ServerOptions } from '../server-options.ts';
import { VERSION } from '../version.ts';
import { createMcpServer } from './mcp-server.ts';
import { McpSessions } from './mcp-sessions.ts';
import type { McpExtra } from './mcp-tool.ts';

/** The API is in the same process; only the path of its addresses has a meaning. */
const API_URL = 'http://localhost';

type Options = Pick<NonNullable<ServerOptions['mcp']>, 'maxSessions' | 'idleMs' | 'askMs'>;

/** `api`: answers requests of the API. They are made with the key of the client's own request, so it may do what that may, and no more. */
export function openSessions(server: ServerContext, api: (request: Request) => Response | Promise<Response>, { maxSessions, idleMs, askMs }: Options): McpSessions {
  const fetch = fetchFrom(api);
  const caller = ({ authInfo }: McpExtra) => {
    const { token: key = '', scopes = [], clientId: by = '' } = authInfo ?? {};
    const who: Caller = { tenant: '', scopes: scopes as Scope[], by };
    return { client: createClient({ url: API_URL, key, retries: 0, fetch }), may: (scope: Scope) => may(who, scope) };
  };
  const newServer = () => createMcpServer({ version: VERSION, caller, onError: server.onError, ...(askMs === undefined ? {} : { askMs }) });
  const { maxBodyBytes, heartbeatMs, draining } = server;
  const sessions = new McpSessions({ newServer, maxSessions, idleMs, maxBodyBytes, heartbeatMs });
  if (draining.aborted) void sessions.close();
  draining.addEventListener('abort', () => void sessions.close(), { once: true });
  return sessions;
}

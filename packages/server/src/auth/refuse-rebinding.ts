/**
 * Keeps web pages away from a server on a loopback address: a name that its owner has led to 127.0.0.1 is refused (`Host`), and so is a
 * page from elsewhere (`Origin`). A page does not know a key either; this holds before any key is looked at.
 */
import { isIPv4 } from 'node:net';
import type { Context, MiddlewareHandler } from 'hono';
import type { Env } from '../server-options.ts';

export interface AllowedNames {
  /** Names, besides those of loopback, by which the server is reached there: those of a proxy on the same machine. */
  hosts: readonly string[];
  /** Origins of pages that may call. */
  origins: readonly string[];
}

export function refuseRebinding({ hosts, origins }: AllowedNames): MiddlewareHandler<Env> {
  const isKnown = (name: string) => isLoopbackName(name) || hosts.includes(name);
  return async (c, next) => {
    const origin = c.req.header('origin');
    if (origin !== undefined && !origins.includes(origin) && !isKnown(nameIn(origin))) return refused(`pages of ${origin.slice(0, 200)} may not call here`);
    const host = c.req.header('host') ?? new URL(c.req.url).host;
    if (isOnLoopback(c) && !isKnown(nameIn(`http://${host}`))) {
      return refused(`this server is not known as ${host.slice(0, 200)}; a proxy's name is told to it with mcp.hosts, or --mcp-host`);
    }
    return next();
  };
}

/** Where the request came in; a request that came by no socket is taken to have come on a loopback address. */
function isOnLoopback(c: Context<Env>): boolean {
  const { incoming } = (c.env ?? {}) as { incoming?: { socket?: { localAddress?: string } } };
  const address = incoming?.socket?.localAddress;
  return address === undefined || address === '::1' || isLoopbackV4(address.replace(/^::ffff:/, ''));
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || isLoopbackV4(name);
}

const isLoopbackV4 = (address: string) => isIPv4(address) && address.startsWith('127.');

/** The name in an address, without its port; what is no address has none. */
function nameIn(url: string): string {
  try {
    return new URL(url).hostname;
  } catch {
    return '';
  }
}

function refused(message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }, { status: 403 });
}

/**
 * Which hosts a program may reach, as its task names them: host names, `*.` wildcards, addresses and CIDRs, each with an
 * optional port.
 *
 * A rule speaks of what stands in the address that is requested, after WHATWG's reading of it: `0x7f.1` is `127.0.0.1`. A name
 * is never let through by a rule for addresses, whatever it resolves to.
 */
import { FermataError } from '@fermata/protocol';
import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.parse>;

interface HostRule {
  /** 0: any. */
  port: number;
  /** It says an address, or `localhost`. */
  isPlace: boolean;
  fits(host: string, address: Address | undefined): boolean;
}

export interface HostRules {
  allows(url: URL): boolean;
  /** Whether a rule lets it through that says an address, or `localhost`: then nobody but who wrote it decides where it leads. */
  namesPlace(url: URL): boolean;
}

/** Throws `invalid_request` for a rule that cannot be understood. */
export function hostRules(given: readonly string[]): HostRules {
  const rules = given.map(parseRule);
  const fitting = (url: URL) => {
    const host = plain(url.hostname);
    const address = ipaddr.isValid(host) ? ipaddr.process(host) : undefined;
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    return rules.filter((rule) => (rule.port === 0 || rule.port === port) && rule.fits(host, address));
  };
  return { allows: (url) => fitting(url).length > 0, namesPlace: (url) => fitting(url).some(({ isPlace }) => isPlace) };
}

const NAME = /^(\*\.)?([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

function parseRule(text: string): HostRule {
  const { host, port } = splitPort(text.trim());
  if (host.includes('/')) return cidrRule(host, port, text);
  if (ipaddr.isValid(host)) {
    const wanted = ipaddr.process(host).toNormalizedString();
    return { port, isPlace: true, fits: (_, address) => address?.toNormalizedString() === wanted };
  }
  const name = toAscii(host);
  if (name === undefined || !NAME.test(name) || /^[\d.]+$/.test(name)) throw notUnderstood(text);
  if (!name.startsWith('*.')) return { port, isPlace: name === 'localhost', fits: (asked) => asked === name };
  const suffix = name.slice(1);
  if (!suffix.slice(1).includes('.')) throw tooWide(text);
  return { port, isPlace: false, fits: (asked) => asked.endsWith(suffix) && asked.length > suffix.length };
}

function cidrRule(host: string, port: number, text: string): HostRule {
  let range: [Address, number];
  try {
    range = ipaddr.parseCIDR(host);
  } catch {
    throw notUnderstood(text);
  }
  const [net, bits] = range;
  if (bits < (net.kind() === 'ipv4' ? 8 : 16)) throw tooWide(text);
  return { port, isPlace: true, fits: (_, address) => address !== undefined && address.kind() === net.kind() && address.match(net, bits) };
}

/** `name:80`, `1.2.3.4:80`, `10.0.0.0/8:80`, `[::1]:80`, `[fd00::/8]:80`, `::1`. */
function splitPort(text: string): { host: string; port: number } {
  const [, bracketed, plainHost, digits] = /^(?:\[([^\]]+)\]|([^:]+)|[^[\]]+:[^[\]]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plainHost;
  // More than one colon and no brackets: an IPv6 address, which has no port.
  if (host === undefined) return { host: text, port: 0 };
  const port = Number(digits ?? 0);
  if (port > 65_535 || digits === '0') throw notUnderstood(text);
  return { host, port };
}

/** As it stands in a parsed address. */
function toAscii(host: string): string | undefined {
  const wildcard = host.startsWith('*.');
  const parsed = URL.parse(`http://${wildcard ? host.slice(2) : host}/`);
  if (!parsed || parsed.port || parsed.username || parsed.pathname !== '/') return undefined;
  return `${wildcard ? '*.' : ''}${plain(parsed.hostname)}`;
}

/** Without the brackets of an IPv6 address and the dot of the root. */
const plain = (hostname: string) => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

function tooWide(text: string): FermataError {
  return new FermataError('invalid_request', `${JSON.stringify(text)} names no host: it takes in too many`, {
    hint: 'Name narrower ones; all public hosts are `true`, where that is allowed.',
  });
}

function notUnderstood(text: string): FermataError {
  return new FermataError('invalid_request', `${JSON.stringify(text)} names no host`, {
    hint: 'Write a host name, *.name, an address or a CIDR, with :port behind it if only one port is meant; an IPv6 address with a port stands in brackets.',
  });
}

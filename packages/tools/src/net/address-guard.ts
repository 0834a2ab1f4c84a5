/**
 * Which addresses requests that users cause may reach: public ones, and those that the configuration names besides.
 * A name is as good as the worst of its addresses.
 */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { promisify } from 'node:util';
import ipaddr from 'ipaddr.js';

export interface AddressGuardOptions {
  /** Host names, addresses and CIDRs that may be reached though they are private; `true`: all. */
  allowPrivate?: boolean | readonly string[];
  /** Default: that of the system. */
  lookup?: (host: string) => Promise<LookupAddress[]>;
}

export interface AddressGuard {
  /** The addresses of a host, all of which may be reached; throws {@link AddressRefused} if one may not. */
  addresses(host: string): Promise<LookupAddress[]>;
}

export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

const systemAddresses = promisify(systemLookup) as unknown as (host: string, options: { all: true }) => Promise<LookupAddress[]>;

export function createAddressGuard(options: AddressGuardOptions = {}): AddressGuard {
  const { allowPrivate = false, lookup = (host) => systemAddresses(host, { all: true }) } = options;
  const named = Array.isArray(allowPrivate) ? (allowPrivate as readonly string[]).map((name) => name.toLowerCase()) : [];
  const mayReach = (host: string, address: string) => allowPrivate === true || named.includes(host) || isPublic(address) || named.some((range) => inRange(address, range));
  return {
    async addresses(given) {
      const host = given
        .replace(/^\[|\]$/g, '')
        .replace(/\.$/, '')
        .toLowerCase();
      const found = ipaddr.isValid(host) ? [{ address: host, family: ipaddr.parse(host).kind() === 'ipv4' ? 4 : 6 }] : await lookup(host);
      if (found.length === 0) throw new Error(`${host} has no address`);
      const refused = found.find(({ address }) => !mayReach(host, address));
      if (refused) throw new AddressRefused(`${host} is at ${refused.address}, which is not a public address`);
      return found;
    },
  };
}

/** Whether an address is one of the internet at large; anything that is not understood is not. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  // Of IPv6 only 2000::/3 is the internet; what lies beside it has names of its own, or none.
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || ((parsed as ipaddr.IPv6).parts[0] ?? 0) >> 13 === 1);
}

function inRange(address: string, range: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  try {
    if (!range.includes('/')) return ipaddr.isValid(range) && ipaddr.process(range).toNormalizedString() === parsed.toNormalizedString();
    const [net, bits] = ipaddr.parseCIDR(range);
    return net.kind() === parsed.kind() && parsed.match(net, bits);
  } catch {
    return false;
  }
}

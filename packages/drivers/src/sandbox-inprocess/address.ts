/**
 * IP addresses and ranges, as grants name them. Only public unicast addresses are covered by wildcards and host names;
 * loopback, private, link-local and other special ranges need an entry that names the address or a range around it.
 */
import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js';

type Address = IPv4 | IPv6;
export type AddressRange = readonly [address: Address, prefixBits: number];

/** Undefined for a host name. IPv6 may stand in brackets. */
export function addressOf(host: string): Address | undefined {
  const text = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (text.includes(':')) return ipaddr.IPv6.isValid(text) ? embedded(ipaddr.IPv6.parse(text)) : undefined;
  return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : undefined;
}

/** An IPv6 address that stands for an IPv4 one (mapped, NAT64, 6to4) leads to that one. */
function embedded(address: IPv6): Address {
  const bytes = address.toByteArray();
  switch (address.range()) {
    case 'ipv4Mapped':
      return address.toIPv4Address();
    case 'rfc6052':
      return new ipaddr.IPv4(bytes.slice(12, 16));
    case '6to4':
      return new ipaddr.IPv4(bytes.slice(2, 6));
    default:
      return address;
  }
}

export function isPublic(address: Address): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isGlobal(address as IPv6));
}

/** All of IPv6 that is given out to the public; forms of IPv4 addresses that nobody uses any more are not in it. */
const GLOBAL: AddressRange = [ipaddr.IPv6.parse('2000::'), 3];

function isGlobal(address: IPv6): boolean {
  return isWithin(address, GLOBAL);
}

export function isLoopback(address: Address): boolean {
  return address.range() === 'loopback';
}

/** `10.0.0.0/8`, `fc00::/7` or `[fc00::]/7`; undefined for anything else. */
export function rangeOf(text: string): AddressRange | undefined {
  const [host = '', bits = ''] = text.split('/');
  const cidr = `${host.replace(/^\[|\]$/g, '')}/${bits}`;
  return addressOf(host) !== undefined && ipaddr.isValidCIDR(cidr) ? ipaddr.parseCIDR(cidr) : undefined;
}

export function isWithin(address: Address, [base, prefixBits]: AddressRange): boolean {
  return address.kind() === base.kind() && address.match(base, prefixBits);
}

/**
 * The patterns of capabilities. Pure; no regular expressions, so no pattern can make matching slow.
 *
 *  network  `*` · `api.example.com` · `*.example.com` (any depth below, not itself) · `10.0.0.7` · `10.0.0.0/8` · each with
 *           `:port`; without, any port. `*` and names reach public addresses only (`mayConnect`)
 *  files    `*` (all of the project folder) · `a/b.txt` · `dir/**` or `dir/` (dir and all below) · `*.csv`, `in/*.json` (one
 *           segment) · `**` as a whole segment · absolute paths and `../` reach outside, since they say so
 *  names    (programs, variables) `*` · `git` · `AWS_*`
 */
import { isAbsolute, resolve, sep } from 'node:path';
import { matchesSegments, NebulaError, patternsOf } from '@nebula/core';
import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js';

export interface Host {
  /** Lower case, without a trailing dot; IPv6 in brackets. */
  readonly name: string;
  /** The port as text; the scheme's default if the URL has none. */
  readonly port: string;
}

export function hostOf(url: URL): Host {
  return { name: trimDot(url.hostname), port: url.port || (url.protocol === 'https:' ? '443' : '80') };
}

/** Returns whether the entry grants requests to this host, as the URL names it. */
export function matchesHost(pattern: string, host: Host): boolean {
  const { name, port } = splitHostPattern(pattern);
  if (port !== undefined && port !== host.port) return false;
  if (name === '*') return !isLocal(host.name);
  if (name.includes('/')) return coversAddress(name, host.name, pattern);
  if (!name.startsWith('*.')) return canonicalHost(name, pattern) === host.name;
  return host.name.endsWith(`.${canonicalHost(name.slice(2), pattern)}`) && addressOf(host.name) === undefined;
}

/**
 * Returns whether a connection to this address of the host is granted. A public address is, because the name was
 * checked before. Any other needs an entry for the address, for a range around it, or for `localhost`.
 */
export function mayConnect(entries: readonly string[], host: Host, address: string): boolean {
  const parsed = addressOf(address);
  if (parsed === undefined) return false;
  if (isPublic(parsed)) return true;
  if (isLocalhost(host.name))
    return (
      parsed.range() === 'loopback' && entries.some((entry) => patternsOf(entry).every((one) => matchesHost(one, host)))
    );
  const name = address.includes(':') ? `[${address}]` : address;
  return entries.some(
    (entry) => namesAddresses(entry) && patternsOf(entry).every((one) => matchesHost(one, { ...host, name })),
  );
}

/** Returns whether the entry names addresses: one, a range, or this machine. */
export function namesAddresses(entry: string): boolean {
  return patternsOf(entry).every((pattern) => {
    const { name } = splitHostPattern(pattern);
    return name.includes('/') || isLocal(name.toLowerCase());
  });
}

function isLocal(host: string): boolean {
  const address = addressOf(host);
  return address === undefined ? isLocalhost(host) : !isPublic(address);
}

function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}

function coversAddress(range: string, host: string, pattern: string): boolean {
  const wanted = rangeOf(range) ?? badPattern(pattern, 'it is neither a host name nor a range of addresses');
  const address = addressOf(host);
  return address !== undefined && isWithin(address, wanted);
}

function splitHostPattern(pattern: string): { readonly name: string; readonly port: string | undefined } {
  const colon = pattern.lastIndexOf(':');
  // `[::1]` and `::1` have colons of their own.
  const isPort = colon > pattern.lastIndexOf(']') && (pattern.startsWith('[') || pattern.indexOf(':') === colon);
  if (colon === -1 || !isPort) return { name: pattern, port: undefined };
  const port = pattern.slice(colon + 1);
  if (port === '*') return { name: pattern.slice(0, colon), port: undefined };
  const number = Number(port);
  if (!/^\d{1,5}$/.test(port) || number < 1 || number > 65_535)
    badPattern(pattern, 'its port is not a number up to 65535');
  return { name: pattern.slice(0, colon), port: String(number) };
}

/** The host as `URL` writes it: lower case, punycode, one form for each IP address. */
function canonicalHost(name: string, pattern: string): string {
  const bracketed = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
  if (/[*/?#@\s\\]/.test(name) || name === '') badPattern(pattern, 'it is not a host name');
  const url = URL.parse(`http://${bracketed}`);
  if (url === null || url.port !== '') return badPattern(pattern, 'it is not a host name');
  return trimDot(url.hostname);
}

function trimDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

/** `path` is absolute and free of `..` and links; `root` is the real project folder. */
export function matchesPath(pattern: string, path: string, root: string): boolean {
  if (pattern === '') return badPattern(pattern, 'it is empty');
  if (pattern === '*') return isInside(path, root);
  const open = pattern.endsWith('/') ? `${pattern}**` : pattern;
  const wanted = segments(isAbsolute(open) ? resolve(open) : resolve(root, open));
  return matchesSegments(wanted, segments(path));
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function segments(path: string): readonly string[] {
  return path.split(sep).filter((segment) => segment !== '');
}

function badPattern(pattern: string, why: string): never {
  throw new NebulaError('CAPABILITY_INVALID', `the capability '${pattern}' cannot be understood: ${why}`, {
    hint: "Hosts look like 'api.example.com', '*.example.com', 'localhost:8080' or '10.0.0.0/8'; paths like 'data/in.csv' or 'data/**'",
  });
}

/**
 * IP addresses and ranges, as grants name them. Only public unicast addresses are covered by wildcards and host names;
 * loopback, private, link-local and other special ranges need an entry that names the address or a range around it.
 */
type Address = IPv4 | IPv6;
type AddressRange = readonly [address: Address, prefixBits: number];

/** Returns undefined for a host name. IPv6 may be in brackets. */
function addressOf(host: string): Address | undefined {
  const text = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (text.includes(':')) return ipaddr.IPv6.isValid(text) ? embedded(ipaddr.IPv6.parse(text)) : undefined;
  return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : undefined;
}

/** An IPv6 address that embeds an IPv4 one (mapped, NAT64, 6to4) leads to that one. */
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

function isPublic(address: Address): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isWithin(address as IPv6, GLOBAL));
}

/** The public range of IPv6; obsolete forms of IPv4 addresses are outside of it. */
const GLOBAL: AddressRange = [ipaddr.IPv6.parse('2000::'), 3];

/** `10.0.0.0/8`, `fc00::/7` or `[fc00::]/7`; undefined for anything else. */
function rangeOf(text: string): AddressRange | undefined {
  const [host = '', bits = ''] = text.split('/');
  const cidr = `${host.replace(/^\[|\]$/g, '')}/${bits}`;
  return addressOf(host) !== undefined && ipaddr.isValidCIDR(cidr) ? ipaddr.parseCIDR(cidr) : undefined;
}

function isWithin(address: Address, [base, prefixBits]: AddressRange): boolean {
  return address.kind() === base.kind() && address.match(base, prefixBits);
}

/**
 * The patterns of capabilities. Pure; no regular expressions, so no pattern can make matching slow.
 *
 *  network  `*` · `api.example.com` · `*.example.com` (any depth below, not itself) · each with `:port`; without, any port
 *  files    `*` (all of the project folder) · `a/b.txt` · `dir/**` or `dir/` (dir and all below) · `*.csv`, `in/*.json` (one
 *           segment) · `**` as a whole segment · absolute paths and `../` reach outside, since they say so
 *  names    (programs, variables) `*` · `git` · `AWS_*`
 */
import { isAbsolute, resolve, sep } from 'node:path';
import { NebulaError } from '@nebula/core';

export interface Host {
  /** Lower case, without a trailing dot; IPv6 in brackets. */
  readonly name: string;
  /** As a number in text; the scheme's default when the URL has none. */
  readonly port: string;
}

export function hostOf(url: URL): Host {
  return { name: trimDot(url.hostname), port: url.port || (url.protocol === 'https:' ? '443' : '80') };
}

export function matchesHost(pattern: string, host: Host): boolean {
  const { name, port } = splitHostPattern(pattern);
  if (port !== undefined && port !== host.port) return false;
  if (name === '*') return true;
  if (!name.startsWith('*.')) return canonicalHost(name, pattern) === host.name;
  return host.name.endsWith(`.${canonicalHost(name.slice(2), pattern)}`) && !isAddress(host.name);
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

/** As `URL` writes it: lower case, punycode, one form for each IP address. */
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

function isAddress(name: string): boolean {
  return name.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(name);
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

/** `**` stands for any number of segments; at the end also for none, so that `dir/**` covers `dir`. */
function matchesSegments(pattern: readonly string[], path: readonly string[]): boolean {
  return matchesSequence(
    pattern.length,
    path.length,
    (at) => pattern[at] === '**',
    (at, index) => matchesName(pattern[at] as string, path[index] as string),
  );
}

/** `*` stands for any number of characters. */
export function matchesName(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern === name;
  return matchesSequence(
    pattern.length,
    name.length,
    (at) => pattern[at] === '*',
    (at, index) => pattern[at] === name[index],
  );
}

/** Wildcard matching with one remembered star: O(pattern × text) at the worst, never exponential. */
function matchesSequence(
  patternLength: number,
  length: number,
  isStar: (at: number) => boolean,
  matches: (at: number, index: number) => boolean,
): boolean {
  let at = 0;
  let index = 0;
  let star = -1;
  let resume = 0;
  while (index < length) {
    if (at < patternLength && isStar(at)) {
      star = at++;
      resume = index;
    } else if (at < patternLength && matches(at, index)) {
      at++;
      index++;
    } else if (star !== -1) {
      at = star + 1;
      index = ++resume;
    } else {
      return false;
    }
  }
  while (at < patternLength && isStar(at)) at++;
  return at === patternLength;
}

function badPattern(pattern: string, why: string): never {
  throw new NebulaError('CAPABILITY_INVALID', `the capability '${pattern}' cannot be understood: ${why}`, {
    hint: "Hosts look like 'api.example.com', '*.example.com' or 'localhost:8080'; paths like 'data/in.csv' or 'data/**'",
  });
}

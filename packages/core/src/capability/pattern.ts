/**
 * Relations between two capability patterns, without I/O. Answers are sound but not complete: `covers` and `areApart`
 * return true only if that holds for every project folder and every address.
 */

/** The name of a pattern list in `Capabilities`. */
export type CapabilityList = 'network' | 'files.read' | 'files.write' | 'shell' | 'env';

/** Whether `outer` matches everything that `inner` matches. */
export function covers(list: CapabilityList, outer: string, inner: string): boolean {
  if (outer === inner) return true;
  if (list === 'network') return coversHost(outer, inner);
  return list === 'shell' || list === 'env' ? coversName(outer, inner) : coversPath(outer, inner);
}

/** Whether nothing matches both patterns. */
export function areApart(list: CapabilityList, a: string, b: string): boolean {
  if (list === 'network') return areHostsApart(hostPattern(a), hostPattern(b));
  if (list === 'shell' || list === 'env') {
    return (!a.includes('*') && !matchesName(b, a)) || (!b.includes('*') && !matchesName(a, b));
  }
  const [left, right] = [plainPath(a), plainPath(b)];
  if (left === undefined || right === undefined || left.isAbsolute !== right.isAbsolute) return false;
  const [leftText, rightText] = [left.segments.join('/'), right.segments.join('/')];
  return !leftText.includes('*') && !rightText.includes('*') && leftText !== rightText;
}

function coversName(outer: string, inner: string): boolean {
  if (outer === '*') return true;
  // A star of the inner pattern stands for any text, which only a star of the outer pattern matches.
  return matchesName(outer, inner);
}

interface HostPattern {
  readonly name: string;
  /** Undefined: any port. */
  readonly port: string | undefined;
  /** The range of an IPv4 address in its usual notation; null for other notations of addresses. */
  readonly range: AddressRange | null | undefined;
}

/** The first address of the range, and the number of bits that all its addresses share. */
type AddressRange = readonly [base: number, bits: number];

/** Lower case, without a trailing dot. Undefined when the text cannot be parsed unambiguously. */
function hostPattern(pattern: string): HostPattern | undefined {
  const [, given = '', port] = /^([^:[\]]*)(?::(\d{1,5}|\*))?$/.exec(pattern) ?? [];
  const name = given.toLowerCase().replace(/\.$/, '');
  const range = rangeOf(name);
  if (range === undefined && !/^(\*|(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*)$/.test(name)) return undefined;
  return { name, port: port === undefined || port === '*' ? undefined : String(Number(port)), range };
}

/** As in URLs, a name whose last part is a number is an address. */
function rangeOf(name: string): AddressRange | null | undefined {
  const [, text, bits = '32'] = /^((?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2}))(?:\/(\d{1,2}))?$/.exec(name) ?? [];
  if (text === undefined) return /(^|\.)(\d+|0x[0-9a-f]*)(\/\d*)?$/.test(name) ? null : undefined;
  const parts = text.split('.').map(Number);
  if (parts.some((part) => part > 255) || Number(bits) > 32) return null;
  return [parts.reduce((sum, part) => sum * 256 + part, 0), Number(bits)];
}

/** `*` and names match public addresses. `*` covers neither this machine nor an address, which may be private. */
function coversHost(outerText: string, innerText: string): boolean {
  const [outer, inner] = [hostPattern(outerText), hostPattern(innerText)];
  if (outer === undefined || inner === undefined) return false;
  if (outer.port !== undefined && outer.port !== inner.port) return false;
  if (outer.name === inner.name) return true;
  if (outer.range !== undefined || inner.range !== undefined) return coversRange(outer.range, inner.range);
  if (outer.name === '*') return !/(^|\.)localhost$/.test(inner.name);
  return isBelow(outer.name, inner.name);
}

function coversRange(outer: HostPattern['range'], inner: HostPattern['range']): boolean {
  if (!outer || !inner || outer[1] > inner[1]) return false;
  const size = 2 ** (32 - outer[1]);
  return Math.floor(outer[0] / size) === Math.floor(inner[0] / size);
}

function areHostsApart(a: HostPattern | undefined, b: HostPattern | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  if (a.port !== undefined && b.port !== undefined && a.port !== b.port) return true;
  if (a.name === b.name || a.name === '*' || b.name === '*') return false;
  if (a.range === null || b.range === null) return false;
  if (a.range !== undefined || b.range !== undefined)
    return !coversRange(a.range, b.range) && !coversRange(b.range, a.range);
  return !isBelow(a.name, b.name) && !isBelow(b.name, a.name);
}

function isBelow(outer: string, name: string): boolean {
  return outer.startsWith('*.') && name.endsWith(outer.slice(1));
}

interface PlainPath {
  readonly isAbsolute: boolean;
  readonly segments: readonly string[];
}

/** Undefined for a path with `.` or `..`, whose meaning depends on its location. */
function plainPath(pattern: string): PlainPath | undefined {
  const isAbsolute = pattern.startsWith('/');
  const open = pattern.endsWith('/') ? `${pattern}**` : pattern;
  const segments = (isAbsolute ? open.slice(1) : open).split('/');
  const isPlain = segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..');
  return isPlain && !pattern.includes('\\') ? { isAbsolute, segments } : undefined;
}

function coversPath(outerText: string, innerText: string): boolean {
  if (innerText === '') return false;
  if (outerText === '/**') return true;
  const inner = plainPath(innerText);
  if (inner === undefined) return false;
  // A lone `*` stands for the whole project folder at any depth.
  if (outerText === '*') return !inner.isAbsolute;
  const outer = plainPath(outerText);
  if (outer === undefined || outer.isAbsolute !== inner.isAbsolute || innerText === '*') return false;
  return matchesSegments(outer.segments, inner.segments);
}

/** Whether a pattern certainly does not match a literal resource: a host, a path as an action names it, a name. */
export function isOutOfReach(list: CapabilityList, pattern: string, wanted: string): boolean {
  if (list === 'network' && /^\*(?::(?:\d+|\*))?$/.test(pattern) && PRIVATE_HOST.test(wanted)) return true;
  if (list !== 'files.read' && list !== 'files.write') return areApart(list, pattern, wanted);
  const [granted, asked] = [plainPath(pattern), plainPath(wanted)];
  if (granted === undefined || asked === undefined || granted.isAbsolute !== asked.isAbsolute) return false;
  return !coversPath(pattern, wanted);
}

/** Hosts that a wildcard does not match, as written in URLs; the list is not complete. */
const PRIVATE_HOST =
  /^(?:(?:.*\.)?localhost|127\.[\d.]+|10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+|169\.254\.[\d.]+|\[::1\])(?::\d+)?$/;

/** `*` matches any number of characters. Without regular expressions, so that no pattern can make matching slow. */
export function matchesName(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern === name;
  return matchesSequence(
    pattern.length,
    name.length,
    (at) => pattern[at] === '*',
    (at, index) => pattern[at] === name[index],
  );
}

/** `**` matches any number of segments; at the end it may match none, so that `dir/**` covers `dir`. */
export function matchesSegments(pattern: readonly string[], path: readonly string[]): boolean {
  return matchesSequence(
    pattern.length,
    path.length,
    (at) => pattern[at] === '**',
    // The path may itself be a pattern: `**` stands for more than one segment.
    (at, index) => path[index] !== '**' && matchesName(pattern[at] as string, path[index] as string),
  );
}

/**
 * Backtracks to the last star only: O(pattern × text) in the worst case, never exponential. `matches` compares an item
 * of the pattern with an item of the text.
 */
export function matchesSequence(
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

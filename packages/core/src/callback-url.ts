/**
 * Callback URLs of nodes that wait for a call.
 *
 *   https://host/callbacks/<address>.<signature>         given to actions: its holder may call the node
 *   https://host/callbacks/<address>.unsigned-<mark>     in expressions, journals and documents: its readers may not
 *
 * The address names execution, node and generation. The mark shows that the server made the URL. Both forms have the
 * same length, and consist of characters that URLs, JSON and HTML leave as they are.
 */

/** An unsigned URL has this prefix and a mark in place of the signature. */
export const UNSIGNED = 'unsigned-';

/** Base64url of a SHA-256. */
const SIGNATURE_CHARS = 43;
export const MARK_CHARS = SIGNATURE_CHARS - UNSIGNED.length;
/** Every address begins with this: base64url of `["`. */
const ADDRESS_START = 'Wy';
/** A longer one is not looked for. */
const MAX_ADDRESS_CHARS = 8_192;
export const MAX_TOKEN_CHARS = MAX_ADDRESS_CHARS + 1 + SIGNATURE_CHARS;

/** The part of a callback URL that matters, in a text. */
export interface CallbackToken {
  readonly address: string;
  /** The signature, or `unsigned-<mark>`. */
  readonly proof: string;
  readonly start: number;
  readonly end: number;
}

const NONE: readonly CallbackToken[] = [];

/** Finds the tokens of callback URLs in a text, in order and in linear time. */
export function callbackTokens(text: string, kind: 'signed' | 'unsigned'): readonly CallbackToken[] {
  if (!text.includes(ADDRESS_START)) return NONE;
  const sought = kind === 'signed' ? '.' : `.${UNSIGNED}`;
  let found: CallbackToken[] | undefined;
  for (let dot = text.indexOf(sought); dot >= 0; dot = text.indexOf(sought, dot + 1)) {
    const end = dot + 1 + SIGNATURE_CHARS;
    if (!isWordUntil(text, dot + 1, end)) continue;
    const start = wordStart(text, dot);
    const [address, proof] = [text.slice(start, dot), text.slice(dot + 1, end)];
    if (!address.startsWith(ADDRESS_START) || proof.startsWith(UNSIGNED) !== (kind === 'unsigned')) continue;
    found ??= [];
    found.push({ address, proof, start, end });
  }
  return found ?? NONE;
}

/** The text with other tokens in place of those of one kind; `undefined` leaves a token as it is. */
export function replaceTokens(
  text: string,
  kind: 'signed' | 'unsigned',
  proofOf: (token: CallbackToken) => string | undefined,
): string {
  let replaced = '';
  let from = 0;
  for (const token of callbackTokens(text, kind)) {
    const proof = proofOf(token);
    if (proof === undefined) continue;
    replaced += `${text.slice(from, token.start)}${token.address}.${proof}`;
    from = token.end;
  }
  return from === 0 ? text : replaced + text.slice(from);
}

/** Whether there are only letters, digits, `_` and `-` from `start` to `end`; others may follow, as in any text. */
function isWordUntil(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!isWord(text.charCodeAt(at))) return false;
  return true;
}

function wordStart(text: string, end: number): number {
  let start = end;
  while (start > 0 && end - start < MAX_ADDRESS_CHARS && isWord(text.charCodeAt(start - 1))) start--;
  return start + (ESCAPED_SLASH.exec(text.slice(Math.max(0, start - 1), start + MAX_ESCAPE_CHARS))?.[1]?.length ?? 0);
}

/** The slash before an address, encoded for a URL (once or several times) or for JSON. Its letters are not the address. */
const ESCAPED_SLASH = /^[%\\]((?:25)*2f|u002f)/i;
const MAX_ESCAPE_CHARS = 12;

/** Also false for NaN, beyond the end of a text. */
function isWord(code: number): boolean {
  if (code >= 97) return code <= 122;
  if (code >= 65) return code <= 90 || code === 95;
  return (code >= 48 && code <= 57) || code === 45;
}

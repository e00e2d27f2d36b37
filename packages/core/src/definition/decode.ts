/** Decodes bytes or text from outside to text that is safe to parse, or returns the first reason to reject it. */
import { formatSize } from '../duration.ts';
import { DEFINITION_LIMITS } from '../limits.ts';

export interface Decoded {
  /**
   * The text without its byte order mark. For bytes that are not UTF-8: the text with replacement characters, for
   * display only.
   */
  readonly text: string;
  readonly failure?: DecodeFailure;
}

interface DecodeFailure {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  /** Position in `text`. */
  readonly offset: number;
}

const BYTE_ORDER_MARK = '\uFEFF';

export function decodeSource(source: string | Uint8Array): Decoded {
  if (source.length > DEFINITION_LIMITS.maxSourceBytes) return { text: '', failure: tooLarge(source.length) };
  const decoded = typeof source === 'string' ? { text: source } : decodeBytes(source);
  if (decoded.failure) return decoded;
  const text = decoded.text.startsWith(BYTE_ORDER_MARK) ? decoded.text.slice(1) : decoded.text;
  const nul = text.indexOf('\0');
  if (nul === -1) return { text };
  return {
    text,
    failure: {
      code: 'BINARY_FILE',
      message: 'the file is not a text file: it contains a NUL character',
      hint: 'a definition is YAML or JSON text in UTF-8; is this the right file?',
      offset: nul,
    },
  };
}

function decodeBytes(bytes: Uint8Array): Decoded {
  const utf16 = utf16Mark(bytes);
  if (utf16 !== undefined) {
    const text = new TextDecoder(utf16).decode(bytes);
    return { text, failure: notUtf8(`the file is ${utf16.toUpperCase()}, not UTF-8`, 0) };
  }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    const text = new TextDecoder('utf-8').decode(bytes);
    const { offset, byte } = firstBadByte(bytes, text);
    const hex = (bytes[byte] ?? 0).toString(16).toUpperCase().padStart(2, '0');
    return { text, failure: notUtf8(`the file is not UTF-8: byte 0x${hex} at position ${byte}`, offset) };
  }
}

function utf16Mark(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

function notUtf8(message: string, offset: number): DecodeFailure {
  return { code: 'NOT_UTF8', message, hint: 'save the file with the encoding UTF-8', offset };
}

function tooLarge(length: number): DecodeFailure {
  const limit = formatSize(DEFINITION_LIMITS.maxSourceBytes);
  return {
    code: 'TOO_LARGE',
    message: `the source size is ${formatSize(length)}; the limit is ${limit}`,
    hint: 'keep large data outside the definition and pass it as input',
    offset: 0,
  };
}

/**
 * Finds the first invalid byte. The first replacement character that is not in the source marks its place: everything
 * before decoded without loss, so the length of that text in bytes is the position.
 */
function firstBadByte(bytes: Uint8Array, lossy: string): { offset: number; byte: number } {
  const encoder = new TextEncoder();
  // The decoder dropped a leading byte order mark of three bytes.
  let byte = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  let from = 0;
  for (let at = lossy.indexOf('\uFFFD'); at !== -1; at = lossy.indexOf('\uFFFD', from)) {
    byte += encoder.encode(lossy.slice(from, at)).length;
    const genuine = bytes[byte] === 0xef && bytes[byte + 1] === 0xbf && bytes[byte + 2] === 0xbd;
    if (!genuine) return { offset: at, byte };
    byte += 3;
    from = at + 1;
  }
  return { offset: 0, byte: 0 };
}

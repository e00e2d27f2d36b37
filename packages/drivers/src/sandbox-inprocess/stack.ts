/**
 * The stack of an error, as its author wants to see it: frames of the author's own code, with paths relative to the
 * project. Frames of Node.js and of Nebula are left out. A frame of a built file with a source map is one of its source.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourcePlace } from './source-maps.ts';

const MAX_FRAMES = 16;
/** The frames follow the message, which may be a whole page, and a log line is cut at its end. */
const MAX_HEAD_CHARS = 1_000;
const MAX_FRAMES_CHARS = 20_000;
const MAX_LINE_CHARS = 500;
const MAX_CAUSES = 3;

/**
 * Undefined if no frame is in code of the author. Never throws: the error may be a proxy. `redact` is applied to messages
 * before they are cut, so that no part of a secret is left.
 */
export function stackOf(
  thrown: unknown,
  projectDir: string,
  redact: (text: string) => string = (text) => text,
): string | undefined {
  try {
    const parts: string[] = [];
    let hasFrames = false;
    let error = thrown;
    for (let depth = 0; depth <= MAX_CAUSES && error instanceof Error; depth++) {
      const { head, frames } = partsOf(error, projectDir, redact);
      hasFrames ||= frames.length > 0;
      parts.push(`${depth === 0 ? '' : 'caused by '}${head}`, ...frames);
      error = error.cause;
    }
    return hasFrames ? parts.join('\n') : undefined;
  } catch {
    return undefined;
  }
}

function partsOf(
  error: Error,
  projectDir: string,
  redact: (text: string) => string,
): { readonly head: string; readonly frames: readonly string[] } {
  const stack = String(error.stack);
  // A line of the message may look like a frame.
  const message = String(error.message);
  const at = stack.indexOf(message);
  const end = at < 0 ? 0 : at + message.length;
  const lines = stack.slice(end, end + MAX_FRAMES_CHARS).split('\n');
  const first = lines.findIndex((line) => FRAME.test(line));
  const head = redact(stack.slice(0, end) + (first < 0 ? lines : lines.slice(0, first)).join('\n'));
  const frames = first < 0 ? [] : lines.slice(first).flatMap((line) => frameOf(line, projectDir) ?? []);
  return {
    head: head.length > MAX_HEAD_CHARS ? `${head.slice(0, MAX_HEAD_CHARS)}…` : head,
    frames: frames.slice(0, MAX_FRAMES),
  };
}

const FRAME = /^\s+at /;

/** `at charge (file:///project/actions/charge.ts:12:9)`, or without a name: `at /project/actions/charge.ts:12:9`. */
const PLACE = /^(\s+at (?:async )?)(.*?\()?((?:file:\/\/)?\/.*|[A-Za-z]:\\.*)(:\d+:\d+)\)?$/;

function frameOf(text: string, projectDir: string): string | undefined {
  const [, at = '', name, place, position] = (text.length > MAX_LINE_CHARS ? null : PLACE.exec(text)) ?? [];
  const built = place === undefined ? undefined : pathOf(place);
  if (built === undefined || position === undefined || isOwn(built)) return undefined;
  const [, line = '', column = ''] = position.split(':');
  const source = sourcePlace(built, Number(line), Number(column));
  const file = source?.file ?? built;
  const where = source === undefined ? position : `:${source.line}:${source.column}`;
  const relative = path.relative(projectDir, file);
  const shown = relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
  return name === undefined ? `${at}${shown}${where}` : `${at}${name}${shown}${where})`;
}

/** Undefined for a URL that is none: the message of an error may look like a frame. */
function pathOf(place: string): string | undefined {
  try {
    return place.startsWith('file://') ? fileURLToPath(place) : place;
  } catch {
    return undefined;
  }
}

/** The folder with the packages of Nebula: of this file it is `packages/drivers/src/sandbox-inprocess`. */
const PACKAGES = fileURLToPath(new URL('../../..', import.meta.url));
const OWN = /[\\/]node_modules[\\/]@nebula[\\/]/;

function isOwn(file: string): boolean {
  if (OWN.test(file)) return true;
  const [, folder] = path.relative(PACKAGES, file).split(path.sep);
  return file.startsWith(PACKAGES) && (folder === 'src' || folder === 'dist');
}

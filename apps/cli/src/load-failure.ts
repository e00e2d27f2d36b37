/** The error of a module that cannot be loaded: which file, which line, and why. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { NebulaError } from '@nebula/core';

/** Before the stack of a syntax error, Node.js puts the file, the line, and the source with a caret. */
const PREAMBLE = /^((?:file:\/\/)?\/[^\n]*):(\d+)\n([\s\S]*?)\n\s*\w*Error\b/;
const NOT_FOUND = /^Cannot find (package|module) '([^']+)' imported from (.+)$/;

/** `file`: the module that was to be loaded, as the user knows it. The error may be in one that it imports. */
export async function loadFailure(
  code: string,
  file: string,
  { cwd, error }: { readonly cwd: string; readonly error: unknown },
): Promise<NebulaError> {
  if (error instanceof NebulaError) return error;
  const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  const missing = NOT_FOUND.exec(message);
  if (missing !== null) return notFound(code, cwd, missing);
  const preamble = PREAMBLE.exec(stack);
  if (preamble !== null) {
    const [, place = '', line = '', source = ''] = preamble;
    const inside = shown(place, cwd);
    const excerpt = source.split('\n').map((one) => `    ${one}`.trimEnd());
    return failure(code, `${inside}:${line} cannot be loaded: ${message}\n${excerpt.join('\n')}`, file, inside, error);
  }
  const { stackOf } = await import('@nebula/drivers/sandbox-inprocess');
  const [, frame = ''] = stackOf(error, cwd)?.match(/\n\s+at (?:.*\()?([^\n(]+:\d+:\d+)\)?/) ?? [];
  if (frame === '') return failure(code, `${file} cannot be loaded: ${message}`, file, file, error);
  return failure(code, `${frame}: ${message}`, file, frame.replace(/:\d+:\d+$/, ''), error);
}

function notFound(code: string, cwd: string, [, what, name = '', from = '']: RegExpExecArray): NebulaError {
  const inside = shown(from, cwd);
  const isPackage = what === 'package';
  return new NebulaError(code, `${inside} imports '${isPackage ? name : shown(name, cwd)}', which does not exist`, {
    hint: isPackage ? `npm install ${name}` : `check the path in ${inside}; it needs the ending of the file`,
  });
}

function failure(code: string, message: string, file: string, inside: string, cause: unknown): NebulaError {
  const imported = path.basename(inside) === path.basename(file) ? '' : `${path.basename(file)} imports it; `;
  return new NebulaError(code, message, { hint: `${imported}NEBULA_DEBUG=1 shows the whole stack`, cause });
}

/** Relative to the folder in which the command runs, if it is inside. */
function shown(place: string, cwd: string): string {
  const file = place.startsWith('file://') ? fileURLToPath(place.replace(/\?.*$/, '')) : place;
  const relative = path.relative(cwd, file);
  return relative === '' || relative.startsWith('..') ? file : relative;
}

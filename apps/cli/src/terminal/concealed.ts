/**
 * Removes handed-out secrets from text that bypasses the sandbox: output that an action prints itself, and errors that it
 * throws where nothing can catch them.
 */

let conceal: ((text: string) => string) | undefined;

/** Set once per process: there is one engine in it. */
export function concealWith(take: (text: string) => string): void {
  conceal = take;
}

export function concealed(text: string): string {
  return conceal?.(text) ?? text;
}

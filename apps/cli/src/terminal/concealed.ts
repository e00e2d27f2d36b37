/**
 * What an action prints by itself, or throws where nothing can catch it, never goes through its sandbox. It is shown
 * without the secrets that were handed out in this process.
 */

let conceal: ((text: string) => string) | undefined;

/** From now on. There is one engine in a process. */
export function concealWith(take: (text: string) => string): void {
  conceal = take;
}

export function concealed(text: string): string {
  return conceal?.(text) ?? text;
}

/** The address that signs a browser in: browsers do not send its fragment, so no log and no proxy sees the code. */
export function signInAddress(studio: string, code: string): string {
  return `${studio}#code=${code}`;
}

/** SHA-256 as lower-case hex: names content. Synchronous, so that the engine stays deterministic. */
export type Digest = (data: Uint8Array | string) => string;

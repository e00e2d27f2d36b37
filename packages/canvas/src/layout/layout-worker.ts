/** Computes layouts beside the page: receives a `LayoutInput` with a number, and answers with the result. */
import { type LayoutInput, layout } from './layout.ts';

interface Scope {
  onmessage: ((event: { readonly data: { readonly id: number; readonly input: LayoutInput } }) => void) | null;
  postMessage(message: unknown, transfer: readonly ArrayBufferLike[]): void;
}

const scope = globalThis as unknown as Scope;
scope.onmessage = ({ data: { id, input } }) => {
  const result = layout(input);
  scope.postMessage(
    { id, result },
    Object.values(result).map(({ buffer }) => buffer),
  );
};

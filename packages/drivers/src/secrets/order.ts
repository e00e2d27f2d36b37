import type { SecretInfo } from '@nebula/ports';

/** By the characters themselves, the same on every machine. */
export function byName(a: SecretInfo, b: SecretInfo): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** What a node may reach: what the operator, the workflow and the node itself grant, taken together. */
import type { Capabilities } from '../action.ts';

const LISTS = ['network', 'shell', 'env'] as const;

/** Everything that either grants. */
export function joinCapabilities(a: Capabilities, b: Capabilities): Capabilities {
  const joined: { -readonly [K in keyof Capabilities]: Capabilities[K] } = {};
  for (const list of LISTS) {
    const entries = [...(a[list] ?? []), ...(b[list] ?? [])];
    if (entries.length > 0) joined[list] = [...new Set(entries)];
  }
  const read = [...(a.files?.read ?? []), ...(b.files?.read ?? [])];
  const write = [...(a.files?.write ?? []), ...(b.files?.write ?? [])];
  if (read.length + write.length > 0) joined.files = { read, write };
  return joined;
}

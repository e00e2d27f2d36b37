/** The keys of a record, with their type. */
export function keysOf<K extends string>(record: Readonly<Record<K, unknown>>): K[] {
  const keys: K[] = [];
  for (const key in record) keys.push(key);
  return keys;
}

/** A JSON value as rows of a tree: only opened objects and lists have rows for their members. */
export interface ValueRow {
  /** Steps from the root, as JSON text: unique, and the key of what is open. */
  readonly id: string;
  readonly depth: number;
  /** The name of the member; undefined for the root. */
  readonly name: string | undefined;
  readonly kind: 'object' | 'list' | 'string' | 'number' | 'word';
  /** The value, or the number of members. */
  readonly text: string;
  readonly size: number;
  readonly isOpen: boolean;
  readonly value: unknown;
}

const MAX_TEXT = 2_000;
/** Members of one list or object that have rows; the rest is one row. */
const MAX_MEMBERS = 5_000;

export function valueRows(value: unknown, isOpen: (id: string, depth: number) => boolean): ValueRow[] {
  const rows: ValueRow[] = [];
  add(rows, value, undefined, [], isOpen);
  return rows;
}

function add(
  rows: ValueRow[],
  value: unknown,
  name: string | undefined,
  path: readonly (string | number)[],
  isOpen: (id: string, depth: number) => boolean,
): void {
  const id = JSON.stringify(path);
  const members = membersOf(value);
  if (members === undefined) {
    rows.push({ id, depth: path.length, name, ...leaf(value), size: 0, isOpen: false, value });
    return;
  }
  const isShown = members.length > 0 && isOpen(id, path.length);
  const kind = Array.isArray(value) ? 'list' : 'object';
  const text = kind === 'list' ? `[${members.length}]` : `{${members.length}}`;
  rows.push({ id, depth: path.length, name, kind, text, size: members.length, isOpen: isShown, value });
  if (!isShown) return;
  for (const [key, member] of members.slice(0, MAX_MEMBERS)) add(rows, member, String(key), [...path, key], isOpen);
  const left = members.length - MAX_MEMBERS;
  if (left > 0) {
    const more = { kind: 'word' as const, text: `… ${left}`, size: 0, isOpen: false, value: undefined };
    rows.push({ id: `${id}…`, depth: path.length + 1, name: undefined, ...more });
  }
}

function membersOf(value: unknown): readonly (readonly [string | number, unknown])[] | undefined {
  if (Array.isArray(value)) return value.map((member, index) => [index, member] as const);
  if (typeof value === 'object' && value !== null) return Object.entries(value);
  return undefined;
}

function leaf(value: unknown): Pick<ValueRow, 'kind' | 'text'> {
  if (typeof value === 'string') {
    const text = value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
    return { kind: 'string', text: JSON.stringify(text) };
  }
  if (typeof value === 'number') return { kind: 'number', text: String(value) };
  return { kind: 'word', text: String(value) };
}

/**
 * Capabilities as sets of resources, and their intersection. An entry of a list is a pattern, or several patterns that
 * must all match (`data/** ∩ **\/*.csv`), so the intersection of two patterns is always exact, even where no single
 * pattern expresses it.
 *
 *  1. `narrow(a, b)` grants nothing that `a` or `b` does not grant, and everything that both grant.
 *  2. Entries that are covered by others, or that can match nothing, are dropped, which keeps lists short and readable.
 *  3. Beyond `MAX_ENTRIES` and `MAX_STEPS` per list the rest is dropped: less is granted, never more.
 */
import type { Capabilities } from '../action.ts';
import { areApart, type CapabilityList, covers } from './pattern.ts';

/** The upper bound of a grant; `all` means no bound. */
export type Ceiling = Capabilities | 'all';

export const NOTHING: Capabilities = {};

const AND = ' ∩ ';
const MAX_ENTRIES = 200;
/** Limit of character comparisons per list: a few milliseconds. */
const MAX_STEPS = 1_000_000;

export const CAPABILITY_LISTS: readonly CapabilityList[] = ['network', 'files.read', 'files.write', 'shell', 'env'];

/** The patterns of an entry; a resource must match all of them. */
export function patternsOf(entry: string): readonly string[] {
  return entry.includes(AND) ? entry.split(AND) : [entry];
}

export function entriesOf(capabilities: Capabilities, list: CapabilityList): readonly string[] {
  if (list === 'files.read') return capabilities.files?.read ?? [];
  if (list === 'files.write') return capabilities.files?.write ?? [];
  return capabilities[list] ?? [];
}

/** The union of two grants. */
export function joinCapabilities(a: Capabilities, b: Capabilities): Capabilities {
  return capabilitiesOf((list) => [...new Set([...entriesOf(a, list), ...entriesOf(b, list)])]);
}

export function joinCeilings(a: Ceiling, b: Ceiling): Ceiling {
  return a === 'all' || b === 'all' ? 'all' : joinCapabilities(a, b);
}

/** The intersection of two grants. */
export function narrow(ask: Capabilities, ceiling: Ceiling): Capabilities {
  if (ceiling === 'all' || ask === ceiling) return ask;
  return capabilitiesOf((list) => narrowList(list, entriesOf(ask, list), entriesOf(ceiling, list)));
}

export function narrowCeiling(ceiling: Ceiling, by: Ceiling): Ceiling {
  return ceiling === 'all' ? by : narrow(ceiling, by);
}

export interface OverCeiling {
  readonly list: CapabilityList;
  readonly entry: string;
}

/** The entries of `ask` that the ceiling does not fully grant. */
export function overCeiling(ask: Capabilities, ceiling: Ceiling): readonly OverCeiling[] {
  if (ceiling === 'all') return [];
  return CAPABILITY_LISTS.flatMap((list) => {
    const allowed = entriesOf(ceiling, list);
    return entriesOf(ask, list)
      .filter((entry) => !allowed.some((other) => coversEntry(list, other, entry)))
      .map((entry) => ({ list, entry }));
  });
}

/** Whether the ceiling grants everything in `ask`. */
export function isWithin(ask: Capabilities, ceiling: Ceiling): boolean {
  return overCeiling(ask, ceiling).length === 0;
}

/** Whether the ceiling grants one resource: a path, a host or a name, and not a pattern. */
export function grantsOne(ceiling: Ceiling, list: CapabilityList, resource: string): boolean {
  if (ceiling === 'all') return true;
  return entriesOf(ceiling, list).some((entry) => patternsOf(entry).every((one) => covers(list, one, resource)));
}

export function isNothing(capabilities: Capabilities): boolean {
  return CAPABILITY_LISTS.every((list) => entriesOf(capabilities, list).length === 0);
}

function narrowList(list: CapabilityList, ask: readonly string[], ceiling: readonly string[]): readonly string[] {
  return ask.length === 0 || ceiling.length === 0 ? [] : new Comparison(list).narrow(ask, ceiling);
}

function coversEntry(list: CapabilityList, outer: string, inner: string): boolean {
  return new Comparison(list).coversEntry(outer, inner);
}

/** Compares the entries of two lists. When its budget is exhausted, patterns count as disjoint. */
class Comparison {
  private readonly list: CapabilityList;
  private left = MAX_STEPS;

  constructor(list: CapabilityList) {
    this.list = list;
  }

  narrow(ask: readonly string[], ceiling: readonly string[]): readonly string[] {
    const found = new Set<string>();
    for (const entry of ask) {
      if (ceiling.some((other) => this.coversEntry(other, entry))) found.add(this.canonical(patternsOf(entry)));
      else for (const other of ceiling) this.addCommon(entry, other, found);
      if (found.size > MAX_ENTRIES) break;
    }
    const entries = [...found].slice(0, MAX_ENTRIES);
    return entries.filter((entry) => !entries.some((other) => other !== entry && this.isSwallowed(entry, other)));
  }

  /** Each pattern of the outer entry must cover some pattern of the inner one. */
  coversEntry(outer: string, inner: string): boolean {
    const parts = patternsOf(inner);
    return patternsOf(outer).every((pattern) => parts.some((part) => this.covers(pattern, part)));
  }

  private addCommon(a: string, b: string, found: Set<string>): void {
    const [left, right] = [patternsOf(a), patternsOf(b)];
    if (left.some((one) => right.some((other) => this.areApart(one, other)))) return;
    found.add(this.canonical([...left, ...right]));
  }

  /** Of two entries that cover each other, the alphabetically first one stays. */
  private isSwallowed(entry: string, other: string): boolean {
    return this.coversEntry(other, entry) && (!this.coversEntry(entry, other) || other < entry);
  }

  /** Removes redundant patterns and sorts the rest. */
  private canonical(patterns: readonly string[]): string {
    const sorted = [...new Set(patterns)].sort();
    const saysNothing = (one: string, index: number): boolean =>
      sorted.some((other, at) => at !== index && this.covers(one, other) && (!this.covers(other, one) || at < index));
    return sorted.filter((one, index) => !saysNothing(one, index)).join(AND);
  }

  private covers(outer: string, inner: string): boolean {
    return this.pays(outer, inner) && covers(this.list, outer, inner);
  }

  private areApart(a: string, b: string): boolean {
    return !this.pays(a, b) || areApart(this.list, a, b);
  }

  private pays(a: string, b: string): boolean {
    this.left -= a.length * b.length + 1;
    return this.left > 0;
  }
}

export function capabilitiesOf(entries: (list: CapabilityList) => readonly string[]): Capabilities {
  const [network, read, write, shell, env] = CAPABILITY_LISTS.map(entries) as [
    readonly string[],
    readonly string[],
    readonly string[],
    readonly string[],
    readonly string[],
  ];
  return {
    ...(network.length > 0 && { network }),
    ...(read.length + write.length > 0 && { files: { read, write } }),
    ...(shell.length > 0 && { shell }),
    ...(env.length > 0 && { env }),
  };
}

/** The number of ceilings whose grants are kept. */
const MAX_CEILINGS = 1_000;

/**
 * Keeps the grants of plans: `ask` is an object of the plan. Runs have their own ceiling object, from their journal;
 * those with equal ceilings share the grants.
 */
export class Narrowed {
  private readonly known = new WeakMap<object, WeakMap<object, Capabilities>>();
  private readonly byText = new Map<string, WeakMap<object, Capabilities>>();

  grant(ask: Capabilities, ceiling: Ceiling): Capabilities {
    if (ceiling === 'all') return ask;
    const grants = this.known.get(ceiling) ?? this.grantsUnder(ceiling);
    const known = grants.get(ask);
    if (known !== undefined) return known;
    const granted = narrow(ask, ceiling);
    grants.set(ask, granted);
    return granted;
  }

  private grantsUnder(ceiling: Capabilities): WeakMap<object, Capabilities> {
    const text = JSON.stringify(ceiling);
    const grants = this.byText.get(text) ?? new WeakMap<object, Capabilities>();
    if (this.byText.size >= MAX_CEILINGS) this.byText.clear();
    this.byText.set(text, grants);
    this.known.set(ceiling, grants);
    return grants;
  }
}

/** The YAML line that grants the entry. */
export function grantLine(list: CapabilityList, entry: string): string {
  const [kind, access] = list.split('.');
  const entries = `[${plainYaml(entry)}]`;
  return `config: { capabilities: { ${kind}: ${access === undefined ? entries : `{ ${access}: ${entries} }`} } }`;
}

/** Quotes the text unless it is certainly a plain scalar in YAML. */
function plainYaml(text: string): string {
  const isPlain = /^[A-Za-z_/][\w./-]*(:\d+)?$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}

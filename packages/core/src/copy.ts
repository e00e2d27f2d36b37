/** Copies JSON: several times as fast as `structuredClone`, and a large value in steps. */
import type { Steps } from './steps.ts';
import { isJsonList, type Json, type JsonObject } from './value.ts';

/** The most members that are copied without a step in between: well under a millisecond. */
const MEMBERS_PER_STEP = 2_000;

/** Copies a small value at once, and leaves a large one to steps. */
export function beginCopy(value: Json): { readonly copy: Json } | Steps<Json> {
  try {
    return { copy: copyWithin(value, { left: MEMBERS_PER_STEP }) };
  } catch (error) {
    if (error !== TOO_LARGE) throw error;
    return copySteps(value as Container);
  }
}

type Container = readonly Json[] | JsonObject;

/** Thrown once for a large value: what was copied until then is dropped. */
const TOO_LARGE = new Error('the value has more members than are copied at once');

function copyWithin(value: Json, allowance: { left: number }): Json {
  if (!isContainer(value)) return value;
  if (isJsonList(value)) {
    spend(allowance, value.length);
    // `map` of a subclass would call its constructor.
    return Array.from(value, (member) => copyWithin(member, allowance));
  }
  const names = Object.keys(value);
  spend(allowance, names.length);
  // A spread keeps the hidden class, which matters for many different objects, and own members that are called `__proto__`.
  const copy: Record<string, Json> = { ...value };
  for (const name of names) {
    const member = copy[name] as Json;
    if (isContainer(member)) copy[name] = copyWithin(member, allowance);
  }
  return copy;
}

function spend(allowance: { left: number }, members: number): void {
  allowance.left -= members;
  if (allowance.left < 0) throw TOO_LARGE;
}

function isContainer(value: Json): value is Container {
  return typeof value === 'object' && value !== null;
}

/** A container whose members are being copied: those before `at` are. */
interface Copying {
  readonly copy: Record<string | number, Json>;
  /** Undefined for a list. */
  readonly names: readonly string[] | undefined;
  readonly length: number;
  at: number;
}

/** One pass without recursion, so that depth costs nothing. */
function* copySteps(value: Container): Steps<Json> {
  const whole = shallowCopy(value);
  const open = [whole];
  let left = MEMBERS_PER_STEP;
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    if (last.at === last.length) {
      open.pop();
      continue;
    }
    if (--left < 0) {
      yield;
      left = MEMBERS_PER_STEP;
    }
    const key = last.names === undefined ? last.at : (last.names[last.at] as string);
    last.at++;
    const member = last.copy[key] as Json;
    if (!isContainer(member)) continue;
    const inner = shallowCopy(member);
    last.copy[key] = inner.copy as unknown as Json;
    open.push(inner);
  }
  return whole.copy as unknown as Json;
}

function shallowCopy(value: Container): Copying {
  if (isJsonList(value)) {
    const copy = Array.from(value) as unknown as Copying['copy'];
    return { copy, names: undefined, length: value.length, at: 0 };
  }
  const copy: Copying['copy'] = { ...value };
  const names = Object.keys(value);
  return { copy, names, length: names.length, at: 0 };
}

/**
 * Compiles access chains to closures. Each run of static members becomes one closure, because most expressions consist
 * of nothing else; a chain that starts in the scope and has only static members allocates nothing.
 */
import type { Json } from '../value.ts';
import { keyReader, missing, readKey } from './access.ts';
import { type Compilation, compileMethod } from './compile-call.ts';
import { compileRoot } from './compile-root.ts';
import { ExpressionError, typeError } from './expression-error.ts';
import type { Frame, Run } from './frame.ts';
import { describe } from './kind.ts';
import type { ChainSyntax, Step, Syntax } from './syntax.ts';

/** A path costs one operation per started group of this many members. */
const MEMBERS_PER_OPERATION = 8;

/** `undefined` ends the chain with null. */
type StepRun = (frame: Frame, value: Json) => Json | undefined;

type MemberStep = Extract<Step, { kind: 'member' }>;

export function compileChain(compilation: Compilation, chain: ChainSyntax): Run {
  const { steps } = chain;
  const root = compileStart(compilation, chain.root);
  const leading = steps.findIndex((step) => step.kind !== 'member');
  const members = (leading < 0 ? steps : steps.slice(0, leading)) as readonly MemberStep[];
  const rest = leading < 0 ? [] : steps.slice(leading);
  if (rest.length === 0) return compilePath(compilation, chain, root, members);
  return sequence(root, [
    ...(members.length === 0 ? [] : [pathStep(compilation, chain, members)]),
    ...compileSteps(compilation, chain, rest),
  ]);
}

/** Compiles the start of a chain; a start in the scope is charged with the path. */
function compileStart(compilation: Compilation, syntax: Syntax): Run {
  if (syntax.kind === 'root') return compileRoot(compilation.source, syntax.root, syntax);
  if (syntax.kind === 'local') {
    const { slot } = syntax;
    return (frame) => frame.locals[slot] ?? null;
  }
  return compilation.compile(syntax);
}

function sequence(root: Run, steps: readonly StepRun[]): Run {
  const [only, ...more] = steps;
  if (only !== undefined && more.length === 0) return (frame) => only(frame, root(frame)) ?? null;
  return (frame) => {
    let value = root(frame);
    for (const step of steps) {
      const next = step(frame, value);
      if (next === undefined) return null;
      value = next;
    }
    return value;
  };
}

function compileSteps(compilation: Compilation, chain: ChainSyntax, steps: readonly Step[]): StepRun[] {
  const runs: StepRun[] = [];
  for (let index = 0; index < steps.length; index++) {
    const step = steps[index] as Step;
    if (step.kind === 'call') {
      runs.push(callStep(compilation, chain, step));
    } else if (step.kind === 'index') {
      runs.push(indexStep(compilation, chain, step));
    } else {
      let end = index + 1;
      while (steps[end]?.kind === 'member') end++;
      runs.push(pathStep(compilation, chain, steps.slice(index, end) as readonly MemberStep[]));
      index = end - 1;
    }
  }
  return runs;
}

function costOf(members: number): number {
  return Math.max(1, Math.ceil(members / MEMBERS_PER_OPERATION));
}

/** The hot path. Short paths are unrolled: the loop costs as much as the access. */
function compilePath(compilation: Compilation, chain: ChainSyntax, root: Run, members: readonly MemberStep[]): Run {
  const cost = costOf(members.length);
  const [first, second] = members;
  if (first === undefined) {
    return (frame) => {
      frame.budget.spend(cost);
      return root(frame);
    };
  }
  const { key } = first;
  const read = keyReader(key);
  const absent = absence(compilation, chain, first);
  if (members.length === 1) {
    return (frame) => {
      frame.budget.spend(cost);
      const value = root(frame);
      return read(value, key) ?? absent(value);
    };
  }
  if (members.length === 2 && second !== undefined) {
    const { key: innerKey } = second;
    const readInner = keyReader(innerKey);
    const absentInner = absence(compilation, chain, second);
    return (frame) => {
      frame.budget.spend(cost);
      const value = root(frame);
      const inner = read(value, key);
      if (inner === undefined) return absent(value);
      return readInner(inner, innerKey) ?? absentInner(inner);
    };
  }
  const walk = pathStep(compilation, chain, members);
  return (frame) => walk(frame, root(frame)) ?? null;
}

/** Whether a missing member is allowed at this step. */
function forgives(chain: ChainSyntax, step: Step, value: Json): boolean {
  if (step.optional || chain.lenient) return true;
  return step.guarded && typeof value === 'object' && value !== null;
}

/** Returns null where the step allows a missing member; otherwise throws. */
function absence(compilation: Compilation, chain: ChainSyntax, step: MemberStep): (value: Json) => null {
  return (value) => {
    // `??` in the callers also catches a member that exists and is null.
    if (forgives(chain, step, value) || readKey(value, step.key) === null) return null;
    throw missingMember(compilation, chain, step, value, step.key);
  };
}

function pathStep(compilation: Compilation, chain: ChainSyntax, members: readonly MemberStep[]): StepRun {
  const keys = members.map((step) => step.key);
  const readers = keys.map(keyReader);
  const cost = costOf(keys.length);
  return (frame, from) => {
    frame.budget.spend(cost);
    let value = from;
    for (let index = 0; index < keys.length; index++) {
      const next = (readers[index] as typeof readKey)(value, keys[index] as string | number);
      if (next === undefined) {
        const step = members[index] as MemberStep;
        if (forgives(chain, step, value)) return undefined;
        throw missingMember(compilation, chain, step, value, step.key);
      }
      value = next;
    }
    return value;
  };
}

function indexStep(compilation: Compilation, chain: ChainSyntax, step: Extract<Step, { kind: 'index' }>): StepRun {
  const index = compilation.compile(step.index);
  return (frame, value) => {
    frame.budget.spend(1);
    if (value === null && forgives(chain, step, value)) return undefined;
    const key = index(frame);
    if (typeof key !== 'string' && typeof key !== 'number') {
      throw typeError(`an index is a number or a string, not ${describe(key)}`).locate(step.index);
    }
    const found = readKey(value, key);
    if (found !== undefined) return found;
    if (forgives(chain, step, value)) return undefined;
    throw missingMember(compilation, chain, step, value, key);
  };
}

function callStep(compilation: Compilation, chain: ChainSyntax, step: Extract<Step, { kind: 'call' }>): StepRun {
  const call = compileMethod(compilation, chain, step);
  const takesNull = step.callee.overloads.some((overload) => overload.definition.on.includes('null'));
  const isForgiven = step.optional || (chain.lenient && !takesNull);
  if (isForgiven && step.callee.overloads.some(({ definition }) => definition.reads)) {
    return (frame, value) => (value === null ? undefined : unlessMissing(() => call(frame, value)));
  }
  if (isForgiven) return (frame, value) => (value === null ? undefined : call(frame, value));
  return call;
}

/** Returns undefined when the call reads a missing member. */
function unlessMissing(call: () => Json): Json | undefined {
  try {
    return call();
  } catch (error) {
    if (error instanceof ExpressionError && error.isMissing) return undefined;
    throw error;
  }
}

function missingMember(
  compilation: Compilation,
  chain: ChainSyntax,
  step: Step,
  value: Json,
  key: string | number,
): ExpressionError {
  return missing(value, key, compilation.source.slice(chain.offset, step.offset).trim(), step);
}

/** Determines which cases of a branch can ever be taken. */
import type { BranchDefinition, CaseDefinition } from '../definition/model.ts';
import type { GraphRecord } from '../plan/context.ts';
import type { BranchCase, BranchWork, NodePlan } from '../plan/plan.ts';
import { conditionSyntax, type SchemaContext, schemaOfCondition } from '../plan/value-schema.ts';
import type { DocumentPath } from '../problem.ts';
import type { Steps } from '../steps.ts';
import { canonicalJson, type Json, type JsonSchema } from '../value.ts';
import { constantOf, constantTruth } from './constant.ts';
import { canFitError, choicesOf, misfitOf } from './fit.ts';
import { canMiss } from './missing.ts';
import { definitionOf, trustedOutput } from './verification.ts';

export interface Chance {
  /** Path inside the node. */
  readonly path: DocumentPath;
  /** Keys of the edges taken with the case. */
  readonly to: readonly string[];
  /** The reason why it can never be taken; undefined when it can. */
  readonly never: string | undefined;
}

export interface Chances {
  readonly cases: readonly Chance[];
  readonly otherwise: Chance;
}

type Verdict = { readonly always?: true; readonly never?: string };

/** Cases between two yields: each is compared with every value that its schema lists. */
const CASES_PER_STEP = 16;

export function* chancesOf(
  record: GraphRecord,
  node: NodePlan,
  work: BranchWork,
  context: SchemaContext,
): Steps<Chances> {
  const branch = definitionOf(record, node).branch as BranchDefinition;
  const values = valuesOf(record, work, branch, context);
  const paths: DocumentPath[] = Array.isArray(branch.cases)
    ? branch.cases.map((_, index) => ['branch', 'cases', index])
    : Object.keys(branch.cases).map((key) => ['branch', 'cases', key]);
  const seen = new Set<string>();
  let taken: string | undefined;
  // A branch that reads a missing member, or whose failure is ignored, takes its default regardless of its cases.
  let isDefaultOpen = !node.enabled || node.onError === 'ignore' || canMiss(branch.on, node, context);
  const cases: Chance[] = [];
  for (const [index, one] of work.cases.entries()) {
    if (index % CASES_PER_STEP === 0) yield;
    const written = Array.isArray(branch.cases) ? (branch.cases[index] as CaseDefinition) : undefined;
    const { always, never } = verdictOf(one, written, values);
    const test = written && canonicalJson([written.when ?? null, written.match ?? null, written.error ?? null]);
    const before = work.many ? undefined : (taken ?? (test !== undefined && seen.has(test) ? SAME : undefined));
    if (test !== undefined) seen.add(test);
    if (taken === undefined || work.many) isDefaultOpen ||= canMiss(written?.when, node, context);
    if (always)
      taken ??= `the ${index === 0 ? 'first' : index === 1 ? 'second' : `${index + 1}th`} case always matches`;
    cases.push({ path: paths[index] as DocumentPath, to: one.to, never: before ?? never });
  }
  const never = isDefaultOpen ? undefined : (taken ?? allCovered(work.cases, values));
  return { cases, otherwise: { path: ['branch', 'default'], to: work.otherwise, never } };
}

const SAME = 'an earlier case has the same test';

/** The values that the cases test, as far as known. */
interface Values {
  readonly constant: Json | undefined;
  /** Schemas of the values that `match` may see; undefined: any value. */
  readonly schemas: readonly JsonSchema[] | undefined;
  /** The values of `on` as text, where they are known. */
  readonly texts: ReadonlySet<string> | undefined;
  /** Whether `on` may also be null. */
  readonly mayBeNull: boolean;
}

function valuesOf(record: GraphRecord, work: BranchWork, branch: BranchDefinition, context: SchemaContext): Values {
  const own = branch.on === undefined ? undefined : schemaOfCondition(branch.on, context);
  const subject = work.subject && trustedOutput(record, work.subject);
  const isKnown =
    (branch.on === undefined || own !== undefined) && (work.subject === undefined || subject !== undefined);
  const schemas = [own, subject, { type: 'null' }].filter((one) => one !== undefined);
  return {
    constant: constantOf(work.on),
    schemas: isKnown ? schemas : undefined,
    texts: textsOf(own),
    mayBeNull: typeof branch.on !== 'string' || mayBeNull(branch.on),
  };
}

function textsOf(schema: JsonSchema | undefined): Set<string> | undefined {
  const isBoolean = typeof schema === 'object' && schema.type === 'boolean';
  const values = choicesOf(schema) ?? (isBoolean ? [true, false] : undefined);
  return values && new Set(values.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))));
}

/** A comparison is never null, nor is a member that must exist. */
function mayBeNull(on: string): boolean {
  const syntax = conditionSyntax(on);
  if (syntax?.kind === 'comparison' || (syntax?.kind === 'unary' && syntax.operator === '!')) return false;
  if (syntax?.kind !== 'chain' || syntax.lenient || syntax.steps.length === 0) return true;
  return syntax.steps.some((step) => step.optional || step.guarded);
}

function verdictOf(one: BranchCase, written: CaseDefinition | undefined, values: Values): Verdict {
  if (one.equals !== undefined) return byValue(one.equals, values);
  if (one.when !== undefined) {
    const truth = constantTruth(one.when);
    if (truth === undefined) return {};
    return truth ? { always: true } : { never: 'its condition is always false' };
  }
  if (written?.match !== undefined) {
    const pattern = written.match;
    const misfits = (values.schemas ?? [undefined]).map((schema) => misfitOf(pattern, schema));
    const [misfit] = misfits;
    if (misfit === undefined || misfits.includes(undefined)) return {};
    return { never: `the tested value never matches, because ${misfit.message}` };
  }
  return written?.error === undefined || canFitError(written.error) ? {} : { never: 'no error matches an empty list' };
}

function byValue(text: string, { constant, texts }: Values): Verdict {
  if (constant !== undefined && constant !== null) {
    const found = typeof constant === 'string' ? constant : JSON.stringify(constant);
    return found === text ? { always: true } : { never: `'on' is always ${JSON.stringify(constant)}` };
  }
  if (texts === undefined || text === 'null' || texts.has(text)) return {};
  return { never: `'on' is one of ${[...texts].slice(0, 8).join(', ')}` };
}

function allCovered(cases: readonly BranchCase[], { texts, mayBeNull: isOpen }: Values): string | undefined {
  if (texts === undefined || isOpen) return undefined;
  const keys = new Set(cases.map(({ equals }) => equals));
  return [...texts].every((text) => keys.has(text)) ? 'the cases cover every value' : undefined;
}

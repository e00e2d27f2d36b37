/** Finds variables that are never read, and reads of variables that are not set before. */

import type { GraphRecord } from '../plan/context.ts';
import type { NodePlan } from '../plan/plan.ts';
import { type GraphScope, loopAround } from '../plan/scope.ts';
import { sharedBy } from '../plan/variables.ts';
import { type Read, readsOf } from './reads.ts';
import { definitionOf, isFailureNode, type Verification } from './verification.ts';

/** A node that sets variables. */
interface Setter {
  readonly record: GraphRecord;
  readonly node: NodePlan;
}

export function checkVariables(verification: Verification): void {
  const { definition, graphs } = verification;
  const works = graphs.flatMap(({ plan }) => plan.nodes.map(({ work }) => work));
  // Graphs returned at run time may set and read any variable.
  if (works.some(({ kind }) => kind === 'dynamic')) return;
  const check = new VariableCheck(verification);
  check.checkOrder();
  const isShared = works.some((work) => work.kind === 'inline' && work.isolation === 'shared');
  if (!isShared) check.checkUse(Object.keys(definition.variables ?? {}));
}

class VariableCheck {
  private readonly verification: Verification;
  private readonly setters = new Map<string, Setter[]>();
  private readonly reads: { readonly record: GraphRecord; readonly read: Read }[] = [];

  constructor(verification: Verification) {
    this.verification = verification;
    for (const record of verification.graphs) {
      for (const read of readsOf(record)) this.reads.push({ record, read });
      for (const node of record.plan.nodes) {
        const shared = sharedBy(definitionOf(record, node), verification.find);
        for (const name of node.work.kind === 'set' ? node.work.values.keys() : shared) {
          const known = this.setters.get(name) ?? [];
          known.push({ record, node });
          this.setters.set(name, known);
        }
      }
    }
  }

  checkOrder(): void {
    const declared = this.verification.definition.variables ?? {};
    for (const { record, read } of this.reads) {
      for (const reference of read.value.references) {
        const [name] = reference.path;
        if (reference.kind !== 'vars' || reference.optional || name === undefined) continue;
        if (Object.hasOwn(declared, name) || this.isSetBefore(String(name), record, read)) continue;
        this.verification.problems.warning({
          code: 'UNSET_VARIABLE',
          message: `the variable '${name}' is read here before anything sets it`,
          hint: 'declare an initial value under `variables`, or run the node that sets it earlier',
          path: [...read.path, ...reference.valuePath],
          at: { offset: reference.offset, length: reference.length },
        });
      }
    }
  }

  private isSetBefore(name: string, record: GraphRecord, read: Read): boolean {
    if (read.node !== undefined && isFailureNode(this.verification, record, read.node)) return true;
    return (this.setters.get(name) ?? []).some((setter) => comesBefore(setter, record.scope, read));
  }

  checkUse(declared: readonly string[]): void {
    const references = this.reads.flatMap(({ read }) => read.value.references);
    const names = new Set<string | number | undefined>(
      references.filter(({ kind }) => kind === 'vars').map(({ path }) => path[0]),
    );
    // An expression reads all variables, or one with a computed name.
    if (names.has(undefined)) return;
    const nodes = new Set(references.map((one) => (one.kind === 'node' ? one.id : undefined)));
    // A variable that is set but not declared may be intended for an enclosing workflow.
    for (const name of declared) {
      const setters = this.setters.get(name) ?? [];
      if (!names.has(name) && !setters.some((one) => isOutputRead(one, nodes))) this.reportUnused(name);
    }
  }

  private reportUnused(name: string): void {
    this.verification.problems.warning({
      code: 'UNUSED_VARIABLE',
      message: `the variable '${name}' is never read`,
      hint: `remove it, or read it as $vars.${name}`,
      path: ['variables', name],
      at: 'key',
    });
  }
}

/** The values that a `set` assigns are also its output. */
function isOutputRead({ record, node }: Setter, read: ReadonlySet<string | undefined>): boolean {
  return read.has(node.id) || (record.plan.output === undefined && node.outgoing.length === 0);
}

/** Whether the setter runs before the reader on every path or, in a loop, in an earlier iteration. */
function comesBefore({ record, node: setter }: Setter, scope: GraphScope, { node: reader, isAfter }: Read): boolean {
  for (let at: GraphScope | undefined = scope, inside = reader?.index; at !== undefined; ) {
    const other = nodeIn(record.scope, setter.index, at);
    if (other !== undefined) {
      if (inside === undefined || loopAround(at) !== undefined || (other === inside && isAfter)) return true;
      return at.reach?.isUpstream(other, inside) ?? true;
    }
    inside = at.outer?.node;
    at = at.outer?.scope;
  }
  return true;
}

/** The node of the outer graph that is the node or contains it. */
function nodeIn(scope: GraphScope, node: number, outer: GraphScope): number | undefined {
  let index = node;
  for (let at: GraphScope | undefined = scope; at !== undefined; at = at.outer?.scope) {
    if (at === outer) return index;
    index = at.outer?.node ?? -1;
  }
  return undefined;
}

/** Checks what expressions refer to: nodes that exist and are upstream, fields that their schemas know. */
import type { Action } from '../action.ts';
import type { WorkflowDefinition } from '../definition/model.ts';
import type { Finding, ProblemList } from '../definition/problem-list.ts';
import type { CompiledValue, ValueReference } from '../expression/index.ts';
import type { Graph, Reachability } from '../graph/index.ts';
import { type DocumentPath, didYouMean } from '../problem.ts';
import { followPath } from '../schema/index.ts';
import type { JsonSchema } from '../value.ts';

/** Where an expression stands decides what it may see. An edge sees its source node too. */
export type Site = { readonly place: 'node' | 'edge'; readonly node: number } | { readonly place: 'output' };

export interface ReferencesParts {
  readonly definition: WorkflowDefinition;
  readonly graph: Graph;
  readonly problems: ProblemList;
  /** Undefined when the graph has cycles: what is upstream is then not known. */
  readonly reach: Reachability | undefined;
  readonly actions: readonly (Action | undefined)[];
}

export class References {
  private readonly parts: ReferencesParts;

  constructor(parts: ReferencesParts) {
    this.parts = parts;
  }

  /** The indexes of the nodes that the value reads. */
  check(value: CompiledValue | undefined, path: DocumentPath, site: Site): readonly number[] {
    if (value === undefined || value.references.length === 0) return [];
    const reads = new Set<number>();
    for (const reference of value.references) {
      const node = this.checkOne(reference, path, site);
      if (node !== undefined) reads.add(node);
    }
    return [...reads];
  }

  private checkOne(reference: ValueReference, path: DocumentPath, site: Site): number | undefined {
    switch (reference.kind) {
      case 'node':
        return this.checkNode(reference, path, site);
      case 'input':
        this.checkField(reference, path, this.parts.definition.input, reference.path, '$input');
        return undefined;
      case 'vars':
        this.checkVariable(reference, path);
        return undefined;
      case 'item':
      case 'index':
      case 'items':
      case 'parent':
        this.report(reference, path, {
          code: 'NOT_IN_A_LOOP',
          message: `$${reference.kind} has a value inside a loop only`,
          hint: 'use $input or a node instead',
        });
        return undefined;
      case 'self':
        this.report(reference, path, {
          code: 'NO_SELF',
          message: '$self has a value in `compensate` only',
          hint: 'name the node: $nodes.<id>',
        });
        return undefined;
      default:
        return undefined;
    }
  }

  private checkNode(
    reference: Extract<ValueReference, { kind: 'node' }>,
    path: DocumentPath,
    site: Site,
  ): number | undefined {
    const { graph, reach } = this.parts;
    const index = graph.indexOf.get(reference.id);
    if (index === undefined) {
      const near = didYouMean(reference.id, [...graph.ids, ...ROOTS]);
      const hint =
        near === undefined
          ? 'nodes are named by their id: $nodes.<id>'
          : `did you mean '${ROOTS.has(near) ? '$' : ''}${near}'?`;
      this.report(reference, path, { code: 'UNKNOWN_REFERENCE', message: `there is no node '${reference.id}'`, hint });
      return undefined;
    }
    if (site.place !== 'output' && reach !== undefined && !isVisible(reach, index, site)) {
      const reader = graph.ids[site.node] as string;
      const isItself = index === site.node;
      this.report(reference, path, {
        code: 'NOT_UPSTREAM',
        message: isItself
          ? `'${reader}' cannot read its own output before it has run`
          : `'${reference.id}' does not run before '${reader}', so its output is not there yet`,
        hint: isItself ? 'read from a node before it' : `add '${reference.id}' to the needs of '${reader}'`,
      });
      return undefined;
    }
    const output = this.parts.actions[index]?.output;
    if (reference.member === 'output' || reference.member === 'result') {
      this.checkField(reference, path, output, reference.path.slice(1), `the output of '${reference.id}'`);
    }
    return index;
  }

  private checkVariable(reference: ValueReference, path: DocumentPath): void {
    const variables = Object.keys(this.parts.definition.variables ?? {});
    const [name] = reference.path;
    if (name === undefined || reference.optional || variables.includes(String(name))) return;
    const near = didYouMean(String(name), variables);
    this.report(reference, path, {
      code: 'UNKNOWN_VARIABLE',
      message: `there is no variable '${name}'`,
      hint: near === undefined ? 'declare it under `variables`' : `did you mean '${near}'?`,
    });
  }

  private checkField(
    reference: ValueReference,
    path: DocumentPath,
    schema: JsonSchema | undefined,
    members: readonly (string | number)[],
    what: string,
  ): void {
    if (schema === undefined || reference.optional) return;
    const finding = followPath(schema, members);
    if (finding.verdict === 'fits') return;
    const name = String(members[finding.at]);
    const near = didYouMean(name, finding.known);
    const known = finding.known.length === 0 ? 'it has no members' : `it has ${finding.known.slice(0, 12).join(', ')}`;
    const hint = near === undefined ? known : `did you mean '${near}'?`;
    const where = finding.at === 0 ? what : `${what} at ${members.slice(0, finding.at).join('.')}`;
    if (finding.verdict === 'absent') {
      this.report(reference, path, { code: 'UNKNOWN_FIELD', message: `${where} has no '${name}'`, hint });
    } else if (near !== undefined) {
      this.report(
        reference,
        path,
        { code: 'UNDECLARED_FIELD', message: `${where} declares no '${name}'`, hint },
        'warning',
      );
    }
  }

  private report(
    reference: ValueReference,
    path: DocumentPath,
    finding: Pick<Finding, 'code' | 'message' | 'hint'>,
    severity: 'error' | 'warning' = 'error',
  ): void {
    const { offset, length } = reference;
    this.parts.problems[severity]({ ...finding, path: [...path, ...reference.valuePath], at: { offset, length } });
  }
}

const ROOTS = new Set(['input', 'trigger', 'vars', 'execution', 'workflow', 'nodes']);

function isVisible(
  reach: Reachability,
  index: number,
  site: { readonly place: string; readonly node: number },
): boolean {
  return (site.place === 'edge' && index === site.node) || reach.isUpstream(index, site.node);
}

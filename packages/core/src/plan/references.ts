/**
 * Checks the references of expressions: nodes must exist and be upstream, loops must enclose the expression, fields
 * must be in the schema.
 */
import type { Finding } from '../definition/problem-list.ts';
import { type CompiledValue, foreignMeaning, type ValueReference } from '../expression/index.ts';
import { type DocumentPath, didYouMean } from '../problem.ts';
import { followPath } from '../schema/index.ts';
import type { JsonSchema } from '../value.ts';
import type { CompileContext } from './context.ts';
import type { NodeRead } from './plan.ts';
import { type GraphScope, type Holder, itemAround, type LoopKind, loopAround, loopsAround, regionOf } from './scope.ts';
import { listSchema } from './value-schema.ts';

/**
 * The position of an expression, which determines what it may read.
 *  - node: nodes upstream of the node
 *  - after: also the node itself (on its edges, and in values evaluated when it completes)
 *  - output: every node of the graph
 *  - start: no node
 * `self`: `$self` is available. `betweenIterations`: the expression is evaluated between the iterations of the node's own loop.
 */
export interface Site {
  readonly kind: 'node' | 'after' | 'output' | 'start';
  readonly node?: number;
  readonly self?: boolean;
  readonly betweenIterations?: boolean;
}

type NodeReference = Extract<ValueReference, { kind: 'node' }>;

/** Separates reads of different scopes; larger than the number of nodes of any graph. */
const SCOPE_STRIDE = 1_000_000;

const NONE: readonly NodeRead[] = [];

export class References {
  private readonly context: CompileContext;
  private readonly scope: GraphScope;

  constructor(context: CompileContext, scope: GraphScope) {
    this.context = context;
    this.scope = scope;
  }

  check(value: CompiledValue | undefined, path: DocumentPath, site: Site): readonly NodeRead[] {
    if (value === undefined || value.references.length === 0) return NONE;
    const reads: NodeRead[] = [];
    for (const reference of value.references) {
      const read = this.checkOne(reference, path, site);
      if (read !== undefined) reads.push(read);
    }
    return distinctReads(reads);
  }

  private checkOne(reference: ValueReference, path: DocumentPath, site: Site): NodeRead | undefined {
    switch (reference.kind) {
      case 'node':
        return this.checkNode(reference, path, site);
      case 'input':
        this.checkField(reference, path, this.context.definition.input, reference.path, '$input');
        return undefined;
      case 'vars':
        this.checkVariable(reference, path);
        return undefined;
      case 'item':
      case 'index':
      case 'items':
        this.checkLoop(reference, path, site, 0, reference.kind);
        this.checkItem(reference, path, site, 0, [reference.kind, ...reference.path]);
        return undefined;
      case 'previous':
        return this.checkPrevious(reference, path, site);
      case 'draw':
        this.checkDraw(reference, path, site);
        return undefined;
      case 'parent':
        this.checkLoop(reference, path, site, reference.level, String(reference.path[0] ?? 'item'));
        this.checkItem(reference, path, site, reference.level, reference.path);
        return undefined;
      case 'self':
        if (site.self !== true) {
          this.report(reference, path, {
            code: 'NO_SELF',
            message: '$self is not available here',
            hint: '$self is available in compensate, emit, until, condition and the output of a workflow node; elsewhere, use $nodes.<id>',
          });
        }
        return undefined;
      case 'execution':
      case 'trigger':
      case 'workflow':
        return undefined;
    }
  }

  private checkNode(reference: NodeReference, path: DocumentPath, site: Site): NodeRead | undefined {
    const isOutput = reference.member === 'output' || reference.member === 'result';
    const region = isOutput ? regionOf(this.scope, reference.id) : undefined;
    if (region !== undefined) {
      const what = `the item of '${reference.id}'`;
      this.checkField(reference, path, region.item, reference.path.slice(1), what);
      return undefined;
    }
    let scope: GraphScope | undefined = this.scope;
    for (let up = 0; scope !== undefined; up++) {
      const index = scope.graph.indexOf.get(reference.id);
      if (index !== undefined) return this.checkVisible(reference, path, site, scope, { up, index });
      scope = scope.outer?.scope;
    }
    this.reportUnknown(reference, path, site);
    return undefined;
  }

  private checkVisible(
    reference: NodeReference,
    path: DocumentPath,
    site: Site,
    scope: GraphScope,
    read: NodeRead,
  ): NodeRead | undefined {
    if (site.kind === 'start') {
      const hint = 'use $input or $trigger';
      this.report(reference, path, { code: 'NOT_UPSTREAM', message: 'no node has run when the workflow starts', hint });
      return undefined;
    }
    // The caller must know the URL before the node waits for the call.
    if (reference.member === 'callbackUrl') return undefined;
    const reader = read.up === 0 ? site.node : nodeAround(this.scope, read.up);
    if (reader !== undefined && !isVisible(scope, read, reader, site)) {
      this.reportNotUpstream(reference, path, scope, read, reader);
      return undefined;
    }
    if (reference.member === 'output' || reference.member === 'result') {
      const output = scope.outputs[read.index];
      this.checkField(reference, path, output, reference.path.slice(1), `the output of '${reference.id}'`);
    }
    return read;
  }

  private reportNotUpstream(
    reference: NodeReference,
    path: DocumentPath,
    { graph }: GraphScope,
    { up, index }: NodeRead,
    reader: number,
  ): void {
    const { id } = reference;
    const name = graph.ids[reader] as string;
    if (index !== reader) {
      this.report(reference, path, {
        code: 'NOT_UPSTREAM',
        message: `'${id}' does not run before '${name}', so its output does not exist yet`,
        hint: `add '${id}' to the needs of '${name}'`,
      });
      return;
    }
    const isInside = up > 0;
    this.report(reference, path, {
      code: 'NOT_UPSTREAM',
      message: isInside
        ? `'${id}' has no output while its body runs`
        : `'${id}' cannot read its own output before it has run`,
      hint:
        isInside && loopsAround(this.scope)[0] === 'forEach'
          ? 'use $item for the current item'
          : 'read the output of an earlier node',
    });
  }

  private reportUnknown(reference: NodeReference, path: DocumentPath, site: Site): void {
    const { id } = reference;
    const holder = this.holderOf(id);
    if (holder !== undefined) {
      const isOwn = site.node !== undefined && this.scope.graph.ids[site.node] === holder.id;
      this.report(reference, path, {
        code: 'INSIDE_A_BODY',
        message: `'${id}' is inside '${holder.id}', and its nodes cannot be read from outside`,
        hint:
          isOwn && site.self
            ? 'use $self.output for the output of the last iteration'
            : `read the output of '${holder.result}'`,
      });
      return;
    }
    const near = didYouMean(id, [...this.visibleIds(), ...ROOTS]);
    const foreign = near === undefined ? foreignMeaning(id) : undefined;
    if (foreign !== undefined) {
      const message = `there is no $${id} and no node '${id}'`;
      return this.report(reference, path, { code: 'UNKNOWN_REFERENCE', message, hint: foreign });
    }
    const hint =
      near === undefined
        ? 'refer to a node by its id: $nodes.<id>'
        : `did you mean '${ROOTS.has(near) ? '$' : ''}${near}'?`;
    this.report(reference, path, { code: 'UNKNOWN_REFERENCE', message: `there is no node '${id}'`, hint });
  }

  private holderOf(id: string): Holder | undefined {
    for (let scope: GraphScope | undefined = this.scope; scope !== undefined; scope = scope.outer?.scope) {
      const holder = scope.holderOf(id);
      if (holder !== undefined) return holder;
    }
    return undefined;
  }

  private *visibleIds(): Generator<string> {
    for (let scope: GraphScope | undefined = this.scope; scope !== undefined; scope = scope.outer?.scope) {
      yield* scope.graph.ids;
    }
  }

  private checkLoop(reference: ValueReference, path: DocumentPath, site: Site, level: number, member: string): void {
    const around = loopsAround(this.scope);
    const loops: LoopKind[] = site.betweenIterations ? ['iterations', ...around] : around;
    const loop = loops[level];
    const name = level === 0 ? `$${member}` : `$${'parent.'.repeat(level)}${member}`;
    if (loop === undefined) {
      this.report(reference, path, {
        code: 'NOT_IN_A_LOOP',
        message:
          level === 0 ? `${name} is available only inside a loop` : `there are fewer than ${level + 1} enclosing loops`,
        hint: loops.length === 0 ? 'use $input or a node instead' : 'the innermost loop has $item, $index and $items',
      });
    } else if (loop === 'iterations' && member !== 'index') {
      const outer = loops.findIndex((one, at) => at > level && one !== 'iterations');
      this.report(reference, path, {
        code: 'NOT_IN_A_LOOP',
        message: `${name} is not available here: the loop does not iterate over items`,
        hint: outer < 0 ? 'use $index' : `did you mean '$${'parent.'.repeat(outer)}${member}'?`,
      });
    }
  }

  /**
   * Between iterations, the last output is `$self.output`; parallel iterations have no previous one. Before `$previous`
   * existed, it read the node of that id, and it still does so in a definition that was accepted then.
   */
  private checkPrevious(reference: ValueReference, path: DocumentPath, site: Site): NodeRead | undefined {
    const loop = loopAround(this.scope);
    if (loop !== undefined && !loop.isParallel && !site.betweenIterations) return undefined;
    const members = ['output', ...reference.path];
    const { offset, length, optional, valuePath } = reference;
    const isNode = [...this.visibleIds()].includes('previous');
    if (isNode && this.context.problems.isAccepted) {
      const node = { kind: 'node', id: 'previous', member: 'output', path: members } as const;
      return this.checkNode({ ...node, offset, length, optional, valuePath }, path, site);
    }
    const hint = isNode ? 'to read the node of that id, write $nodes.previous.output' : undefined;
    if (loop === undefined && !site.betweenIterations) {
      const message = '$previous is available only inside a loop';
      this.report(reference, path, { code: 'NOT_IN_A_LOOP', message, hint: hint ?? 'use $input or a node instead' });
    } else if (site.betweenIterations) {
      const message = '$previous is not available here';
      const self = 'use $self.output for the output of the last iteration';
      this.report(reference, path, { code: 'NO_PREVIOUS', message, hint: hint ?? self });
    } else {
      const message = '$previous is not available in a parallel loop, whose iterations run at the same time';
      this.report(reference, path, { code: 'NO_PREVIOUS', message, hint: hint ?? 'remove `parallel`' });
    }
    return undefined;
  }

  private checkDraw(reference: ValueReference, path: DocumentPath, site: Site): void {
    this.context.workflows.uses.draws = true;
    if (site.kind !== 'start') return;
    const message = 'uuid() and random() are not available before the run starts';
    this.report(reference, path, { code: 'NO_DRAW', message, hint: 'call them in a node and read its output' });
  }

  private checkItem(
    reference: ValueReference,
    path: DocumentPath,
    site: Site,
    level: number,
    [member, ...members]: readonly (string | number)[],
  ): void {
    const item = itemAround(this.scope, site.betweenIterations ? level - 1 : level);
    if (item === undefined || (member !== 'item' && member !== 'items')) return;
    const schema = member === 'item' ? item : listSchema(item);
    this.checkField(reference, path, schema, members, `$${'parent.'.repeat(level)}${member}`);
  }

  private checkVariable(reference: ValueReference, path: DocumentPath): void {
    const { variables } = this.context;
    const [name] = reference.path;
    if (name === undefined || reference.optional || variables.has(String(name))) return;
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
      // Schemas become more exact with versions of actions and of the engine.
      const message = `${where} has no '${name}'`;
      this.report(reference, path, { code: 'UNKNOWN_FIELD', message, hint, isTightened: true });
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
    finding: Pick<Finding, 'code' | 'message' | 'hint' | 'isTightened'>,
    severity: 'error' | 'warning' = 'error',
  ): void {
    const { offset, length } = reference;
    this.context.problems[severity]({ ...finding, path: [...path, ...reference.valuePath], at: { offset, length } });
  }
}

const ROOTS = new Set(['input', 'trigger', 'vars', 'execution', 'workflow', 'nodes']);

export function distinctReads(reads: readonly NodeRead[]): readonly NodeRead[] {
  if (reads.length < 2) return reads;
  return [...new Map(reads.map((read) => [read.up * SCOPE_STRIDE + read.index, read])).values()];
}

/** The node, `up` scopes above, whose work contains this graph. */
function nodeAround(scope: GraphScope, up: number): number | undefined {
  let at: GraphScope | undefined = scope;
  for (let step = 1; step < up; step++) at = at?.outer?.scope;
  return at?.outer?.node;
}

function isVisible({ reach }: GraphScope, { up, index }: NodeRead, reader: number, site: Site): boolean {
  if (reach === undefined || (up === 0 && site.kind === 'output')) return true;
  return (up === 0 && site.kind === 'after' && index === reader) || reach.isUpstream(index, reader);
}

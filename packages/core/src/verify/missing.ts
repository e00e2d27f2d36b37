/** Checks whether an expression may read a missing member. Answers no only where that is certain. */
import type { ChainSyntax, Root, Step, Syntax } from '../expression/syntax.ts';
import type { NodePlan } from '../plan/plan.ts';
import { conditionSyntax, type SchemaContext } from '../plan/value-schema.ts';
import { followPath } from '../schema/index.ts';
import { isJsonObject, type Json, type JsonSchema } from '../value.ts';

/** `node` owns the expression. `context` has only certain output schemas (`trustedScope`). */
export function canMiss(raw: Json | undefined, node: NodePlan, context: SchemaContext): boolean {
  if (typeof raw !== 'string') return raw !== undefined && JSON.stringify(raw).includes('{{');
  const syntax = conditionSyntax(raw);
  return syntax === undefined || new MissingCheck(node, context).canMiss(syntax);
}

class MissingCheck {
  private readonly node: NodePlan;
  private readonly context: SchemaContext;

  constructor(node: NodePlan, context: SchemaContext) {
    this.node = node;
    this.context = context;
  }

  canMiss(syntax: Syntax): boolean {
    if (syntax.kind === 'chain') return this.chainCanMiss(syntax);
    // A function may read a member by name.
    if (syntax.kind === 'call') return syntax.args.length > 0;
    return partsOf(syntax).some((part) => this.canMiss(part));
  }

  private chainCanMiss({ root, steps, lenient }: ChainSyntax): boolean {
    if (this.canMiss(root)) return true;
    if (lenient || steps.every(({ optional }) => optional)) return steps.some(({ kind }) => kind !== 'member');
    if (root.kind !== 'root') return true;
    const schema = this.certain(root.root);
    return schema === undefined || !isRequired(schema, steps);
  }

  /** The schema of a value that exists whenever the node runs. */
  private certain(root: Root): JsonSchema | undefined {
    if (root.from === 'input') return this.context.input;
    if (root.from !== 'node' || (root.member !== 'output' && root.member !== 'result')) return undefined;
    const [edge, ...others] = this.node.incoming;
    // The output of a skipped, failed or disabled node is null.
    const isCompleted =
      edge?.from.id === root.id &&
      others.length === 0 &&
      (edge.on === 'success' || edge.on === 'result') &&
      edge.from.enabled &&
      edge.from.onError !== 'ignore';
    return isCompleted ? this.context.scope.outputs[edge.from.index] : undefined;
  }
}

function isRequired(schema: JsonSchema, steps: readonly Step[]): boolean {
  let at: JsonSchema = schema;
  for (const step of steps) {
    if (step.kind !== 'member' || !isJsonObject(at) || at.type !== 'object') return false;
    if (!Array.isArray(at.required) || !at.required.includes(step.key)) return false;
    const found = followPath(at, [step.key]);
    if (found.verdict !== 'fits') return false;
    at = found.schema;
  }
  return true;
}

function partsOf(syntax: Exclude<Syntax, { kind: 'chain' | 'call' }>): readonly Syntax[] {
  switch (syntax.kind) {
    case 'literal':
    case 'root':
    case 'local':
    case 'query':
      return [];
    case 'list':
      return syntax.items.map(({ value }) => value);
    case 'object':
      return syntax.members.flatMap(({ key, value }) => (typeof key === 'object' ? [key, value] : [value]));
    case 'unary':
      return [syntax.operand];
    case 'arithmetic':
      return [syntax.first, ...syntax.rest.map(({ operand }) => operand)];
    case 'comparison':
      return [syntax.left, syntax.right];
    case 'logic':
    case 'coalesce':
      return syntax.operands;
    case 'conditional':
      return [...syntax.branches.flatMap(({ test, then }) => [test, then]), syntax.otherwise];
  }
}

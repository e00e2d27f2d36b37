/**
 * Compares the result types of expressions with the input types of actions, workflows and loops, where both schemas are
 * known.
 */
import type { Action } from '../action.ts';
import type { GraphRecord } from '../plan/context.ts';
import type { NodePlan } from '../plan/plan.ts';
import { type SchemaContext, schemaOfCondition, schemaOfValue } from '../plan/value-schema.ts';
import type { DocumentPath } from '../problem.ts';
import type { Steps } from '../steps.ts';
import { isJsonObject, type Json, type JsonSchema } from '../value.ts';
import { clashOf, clashText } from './clash.ts';
import { definitionOf, nodePath, type Verification } from './verification.ts';

export function* checkTypes(verification: Verification, record: GraphRecord, context: SchemaContext): Steps<void> {
  for (const node of record.plan.nodes) {
    yield;
    new NodeTypes(verification, record, context, node).check();
  }
}

const LIST: JsonSchema = { type: 'array' };

class NodeTypes {
  private readonly verification: Verification;
  private readonly record: GraphRecord;
  private readonly context: SchemaContext;
  private readonly node: NodePlan;

  constructor(verification: Verification, record: GraphRecord, context: SchemaContext, node: NodePlan) {
    this.verification = verification;
    this.record = record;
    this.context = context;
    this.node = node;
  }

  check(): void {
    const { work, compensate } = this.node;
    const definition = definitionOf(this.record, this.node);
    const { context } = this;
    if (work.kind === 'action') this.checkValue(definition.with, inputOf(work.action), context, ['with']);
    if (work.kind === 'dynamic') {
      this.checkValue(definition.dynamic?.with, inputOf(work.action), context, ['dynamic', 'with']);
    }
    if (compensate !== undefined) {
      const self = context.scope.outputs[this.node.index];
      const keys = ['compensate', 'with'];
      this.checkValue(definition.compensate?.with, inputOf(compensate.action), { ...context, self }, keys);
    }
    if (definition.workflow?.id !== undefined) {
      const { id, version, input } = definition.workflow;
      this.checkValue(input, this.verification.find(id, version)?.input, context, ['workflow', 'input']);
    }
    this.checkList(definition.forEach?.in, ['forEach', 'in']);
    this.checkList(definition.split?.in, ['split', 'in']);
  }

  private checkList(raw: Json | undefined, keys: DocumentPath): void {
    if (typeof raw === 'string') this.compare(schemaOfCondition(raw, this.context), LIST, keys);
  }

  /** Literal values were already checked; this compares expressions. */
  private checkValue(
    raw: Json | undefined,
    wanted: JsonSchema | undefined,
    context: SchemaContext,
    keys: DocumentPath,
  ): void {
    if (raw === undefined || !isJsonObject(wanted)) return;
    if (typeof raw === 'string') {
      if (raw.includes('{{')) this.compare(schemaOfValue(raw, context), wanted, keys);
    } else if (Array.isArray(raw)) {
      for (const [index, one] of raw.entries()) this.checkValue(one, inside(wanted.items), context, [...keys, index]);
    } else if (isJsonObject(raw)) {
      for (const [name, one] of Object.entries(raw)) {
        const { properties, additionalProperties } = wanted;
        const isKnown = isJsonObject(properties) && Object.hasOwn(properties, name);
        this.checkValue(one, inside(isKnown ? properties[name] : additionalProperties), context, [...keys, name]);
      }
    }
  }

  private compare(given: JsonSchema | undefined, wanted: JsonSchema, keys: DocumentPath): void {
    const clash = clashOf(given, wanted);
    if (clash === undefined) return;
    const finding = {
      code: 'TYPE_MISMATCH',
      message: `the result of the expression ${clashText(clash)}`,
      hint: 'read another member, or convert it with toNumber() or toString()',
      path: [...nodePath(this.record, this.node), ...keys],
    };
    this.verification.problems[clash.isCertain ? 'error' : 'warning'](finding);
  }
}

/** A schema for documentation only may reject values that the action accepts. */
function inputOf(action: Action): JsonSchema | undefined {
  return action.describeOnly?.includes('input') ? undefined : action.input;
}

function inside(schema: Json | undefined): JsonSchema | undefined {
  return isJsonObject(schema) ? schema : undefined;
}

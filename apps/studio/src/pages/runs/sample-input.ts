/** A first input for a workflow, from its schema: what the schema proposes, and a plain value for what it requires. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
}

const MAX_DEPTH = 6;

/** Undefined: the workflow needs no input. */
export function sampleInput(schema: unknown): unknown {
  return isSchema(schema) ? sampleOf(schema, 0) : undefined;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}

function sampleOf(schema: Schema, depth: number): unknown {
  const proposed = schema.default ?? schema.const ?? schema.examples?.[0] ?? schema.enum?.[0];
  if (proposed !== undefined) return proposed;
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'number':
    case 'integer':
      return schema.minimum ?? 1;
    case 'boolean':
      return false;
    case 'array':
      return schema.items !== undefined && (schema.minItems ?? 0) > 0 && depth < MAX_DEPTH
        ? [sampleOf(schema.items, depth + 1)]
        : [];
    case 'object':
      return objectSample(schema, depth);
    case 'null':
      return null;
    default:
      return schema.properties === undefined ? 'example' : objectSample(schema, depth);
  }
}

/** An optional member is left out, unless the schema proposes a value. */
function objectSample({ properties = {}, required = [] }: Schema, depth: number): Readonly<Record<string, unknown>> {
  const members = Object.entries(properties).filter(([name, member]) => {
    if (required.includes(name)) return true;
    return isSchema(member) && (member.default ?? member.examples?.[0]) !== undefined;
  });
  return Object.fromEntries(
    members.map(([name, member]) => [name, depth < MAX_DEPTH && isSchema(member) ? sampleOf(member, depth + 1) : null]),
  );
}

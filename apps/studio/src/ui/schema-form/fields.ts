/** The fields of a form, from a JSON Schema. A schema that no field fits is edited as JSON text. */
export type FieldKind = 'text' | 'long-text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json';

export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly description: string | undefined;
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  readonly choices: readonly unknown[];
  readonly initial: unknown;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly maxLength?: number;
  readonly format?: string;
  readonly additionalProperties?: unknown;
}

const LONG_TEXT = 200;

/** Undefined: the value is no object with known members, and is edited as JSON text as a whole. */
export function fieldsOf(schema: unknown): FormField[] | undefined {
  if (!isSchema(schema) || schema.properties === undefined) return undefined;
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, member]) => {
    const known = isSchema(member) ? member : {};
    return {
      name,
      label: known.title ?? name,
      description: known.description,
      kind: kindOf(known),
      isRequired: required.has(name),
      choices: known.enum ?? [],
      initial: known.default,
    };
  });
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}

function kindOf({ type, enum: choices, maxLength = 0 }: Schema): FieldKind {
  if (choices !== undefined) return 'choice';
  switch (type) {
    case 'string':
      return maxLength > LONG_TEXT ? 'long-text' : 'text';
    case 'number':
    case 'integer':
    case 'boolean':
      return type;
    default:
      return 'json';
  }
}

/** What was typed, by field. Undefined: nothing. */
export type Typed = Readonly<Record<string, string | boolean | undefined>>;

export type FormValue =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problems: Readonly<Record<string, FieldProblem>> };

export type FieldProblem = 'missing' | 'not-a-number' | 'not-an-integer' | 'not-json';

/** The value of a form. An empty optional field is left out. */
export function formValue(fields: readonly FormField[], typed: Typed): FormValue {
  const value: Record<string, unknown> = {};
  const problems: Record<string, FieldProblem> = {};
  for (const field of fields) {
    const given = typed[field.name];
    if (given === undefined || given === '') {
      if (field.isRequired && field.kind !== 'boolean') problems[field.name] = 'missing';
      else if (field.isRequired) value[field.name] = false;
      continue;
    }
    const read = readField(field, given);
    if ('problem' in read) problems[field.name] = read.problem;
    else value[field.name] = read.value;
  }
  return Object.keys(problems).length === 0 ? { ok: true, value } : { ok: false, problems };
}

function readField(
  field: FormField,
  given: string | boolean,
): { readonly value: unknown } | { readonly problem: FieldProblem } {
  if (typeof given === 'boolean') return { value: given };
  switch (field.kind) {
    case 'number':
    case 'integer': {
      const number = Number(given);
      if (!Number.isFinite(number)) return { problem: 'not-a-number' };
      return field.kind === 'integer' && !Number.isInteger(number) ? { problem: 'not-an-integer' } : { value: number };
    }
    case 'choice':
      return { value: field.choices[Number(given)] };
    case 'json':
      return readJson(given);
    default:
      return { value: given };
  }
}

export function readJson(text: string): { readonly value: unknown } | { readonly problem: FieldProblem } {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { problem: 'not-json' };
  }
}

/** The texts of a form that shows a value. */
export function typedFrom(fields: readonly FormField[], value: unknown): Typed {
  const given = isSchema(value) ? (value as Readonly<Record<string, unknown>>) : {};
  return Object.fromEntries(
    fields.map((field) => {
      const own = Object.hasOwn(given, field.name) ? given[field.name] : field.initial;
      return [field.name, typedOf(field, own)];
    }),
  );
}

function typedOf({ kind, choices }: FormField, value: unknown): string | boolean | undefined {
  if (value === undefined) return undefined;
  if (kind === 'boolean') return value === true;
  if (kind === 'choice') {
    const at = choices.findIndex((choice) => JSON.stringify(choice) === JSON.stringify(value));
    return at < 0 ? undefined : String(at);
  }
  return kind === 'json' ? JSON.stringify(value, null, 2) : String(value);
}

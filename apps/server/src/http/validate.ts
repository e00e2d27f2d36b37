/** Checks requests against the contract. Text of queries and paths is converted; bodies are checked as they are. */
import { OPERATIONS, type Operation, type OperationId } from '@nebula/client/contract';
import { momentIn, NebulaError } from '@nebula/core';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { describeSchemaError } from './schema-error.ts';

type Input = Readonly<Record<'params' | 'query' | 'body', unknown>>;

const options = {
  allErrors: false,
  useDefaults: true,
  strict: false,
  removeAdditional: false,
  verbose: true,
  // The schemas are our own. Compiling the meta-schema would block the first request for another 25 ms.
  meta: false,
  validateSchema: false,
} as const;

type Validator = (input: Input) => void;

const text = withFormats(new Ajv({ ...options, coerceTypes: true }));
const json = withFormats(new Ajv(options));
const known = new Map<OperationId, Validator>();

/**
 * Compiled by the first request of the operation: all 80 of them would take a third of a server's start. The validator
 * throws `BODY_INVALID` or `QUERY_INVALID` with a pointer to the invalid value.
 */
export function validatorOf(id: OperationId): Validator {
  const validator = known.get(id) ?? compiled(OPERATIONS[id]);
  known.set(id, validator);
  return validator;
}

function compiled({ params, query, body }: Operation): Validator {
  const checks: readonly (readonly [keyof Input, ValidateFunction])[] = [
    ...(params === undefined ? [] : [['params', text.compile(params)] as const]),
    ...(query === undefined ? [] : [['query', text.compile(query)] as const]),
    ...(body === undefined ? [] : [['body', json.compile(body)] as const]),
  ];
  return (input) => {
    for (const [part, check] of checks) {
      if (!check(input[part])) throw invalid(part, check.errors);
    }
  };
}

/** Checks JSON that no operation of the contract describes, such as a message. Compiled by the first call. */
export function bodyCheck<T>(schema: object): (body: unknown) => T {
  let check: ValidateFunction | undefined;
  return (body) => {
    check ??= json.compile(schema);
    if (!check(body)) throw invalid('body', check.errors);
    return body as T;
  };
}

function withFormats(ajv: Ajv): Ajv {
  // The format of `ajv-formats` accepts leap seconds, which a `Date` cannot hold.
  ajv.addFormat('date-time', { type: 'string', validate: (text: string) => momentIn(text) !== undefined });
  return ajv;
}

function invalid(part: keyof Input, errors: readonly ErrorObject[] | null | undefined): NebulaError {
  const { instancePath, detail, hint } = describeError(part, errors);
  const subject = instancePath === '' ? `The ${part === 'body' ? 'body' : 'request'}` : `'${instancePath.slice(1)}'`;
  const pointer = part === 'body' ? instancePath || '/' : `?${instancePath.slice(1)}`;
  return new NebulaError(part === 'body' ? 'BODY_INVALID' : 'QUERY_INVALID', `${subject} ${detail}.`, {
    hint: hint ?? 'See the API reference of this server: /api/docs.',
    details: { errors: [{ pointer, detail }] },
  });
}

function describeError(part: keyof Input, errors: readonly ErrorObject[] | null | undefined) {
  // For `anyOf` the last error is the one that counts; the errors before it belong to the alternatives.
  const last = errors?.at(-1);
  const error = last?.keyword === 'anyOf' ? last : errors?.[0];
  if (error === undefined) return { instancePath: '', detail: 'is not valid' };
  const isGivenTwice = part !== 'body' && Array.isArray(error.data) && error.instancePath !== '';
  const described = isGivenTwice ? { detail: 'is given more than once' } : describeSchemaError(error);
  return { instancePath: error.instancePath, ...described };
}

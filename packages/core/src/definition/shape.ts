/** Checks a definition against the key tables and reports all problems at once. */
import { parseDuration } from '../duration.ts';
import { isDate } from '../expression/library/calendar.ts';
import { DEFINITION_LIMITS } from '../limits.ts';
import { clipped, didYouMean, type Problem } from '../problem.ts';
import { isJsonObject, type Json, type JsonObject } from '../value.ts';
import { WORKFLOW } from './keys.ts';
import { ERROR_MATCH } from './kind-keys.ts';
import type { RuleContext } from './kind-rules.ts';
import { BODY } from './node-keys.ts';
import { parseEdgeText } from './normalise.ts';
import { type Finding, ProblemList } from './problem-list.ts';
import { RULES } from './rules.ts';
import { TextSourceMap } from './source-map.ts';
import {
  ACTION_PATTERN,
  acceptsJsonType,
  describeType,
  ID_PATTERN,
  isExpression,
  isMisplacedExpression,
  type KeyType,
  PERCENT_PATTERN,
  type RecordType,
  type ValueType,
} from './value-type.ts';

const ID = new RegExp(ID_PATTERN);
const ACTION = new RegExp(ACTION_PATTERN);
const PERCENT = new RegExp(PERCENT_PATTERN);

/** Computed once, because a large definition has a hundred thousand records. */
const REQUIRED_KEYS = new WeakMap<RecordType, readonly string[]>();

function requiredKeys(record: RecordType): readonly string[] {
  let keys = REQUIRED_KEYS.get(record);
  if (keys === undefined) {
    keys = Object.keys(record.keys).filter((key) => record.keys[key]?.required);
    REQUIRED_KEYS.set(record, keys);
  }
  return keys;
}

const NONE: Set<string> = new Set();

export function checkShape(workflow: JsonObject, problems: ProblemList): void {
  new ShapeChecker(problems, { document: workflow, rules: RULES, isData: true }).checkRecord(WORKFLOW, workflow);
}

/** Checks a standalone body at the given depth of a workflow. */
export function checkBodyShape(body: JsonObject, problems: ProblemList, depth: number): void {
  new ShapeChecker(problems, { rules: RULES, bodyDepth: depth - 1, isData: true }).checkRecord(BODY, body);
}

/** Checks a document of another format against the table of its keys. */
export function checkDocument(record: RecordType, value: Json, problems: ProblemList, options: ShapeOptions): void {
  new ShapeChecker(problems, options).check({ is: 'record', record }, value, record.title);
}

/** The problems of an object that has no text. */
export function problemsOf(record: RecordType, value: unknown, rules: ShapeOptions['rules']): readonly Problem[] {
  const problems = new ProblemList(new TextSourceMap('', undefined, () => undefined));
  checkDocument(record, value as Json, problems, { rules });
  return problems.sorted();
}

export interface ShapeOptions {
  /** By the name of the record. */
  readonly rules: Readonly<Record<string, (context: RuleContext) => void>>;
  readonly document?: JsonObject;
  readonly bodyDepth?: number;
  /** A key with the value null counts as absent. */
  readonly isNullAbsent?: boolean;
  /** The check of the data has reported numbers that are not finite, and reserved keys. */
  readonly isData?: boolean;
}

class ShapeChecker {
  readonly #options: ShapeOptions;
  readonly #problems: ProblemList;
  readonly #path: (string | number)[] = [];
  #bodyDepth: number;

  constructor(problems: ProblemList, options: ShapeOptions) {
    this.#problems = problems;
    this.#options = options;
    this.#bodyDepth = options.bodyDepth ?? 0;
  }

  checkRecord(record: RecordType, value: JsonObject): void {
    if (record === BODY) return this.#checkBody(value);
    this.#checkKeys(record, value);
  }

  #checkBody(value: JsonObject): void {
    if (this.#bodyDepth >= DEFINITION_LIMITS.maxBodyDepth) {
      const message = `bodies are nested deeper than ${DEFINITION_LIMITS.maxBodyDepth} levels`;
      return this.#report({
        code: 'TOO_DEEP',
        message,
        hint: 'move the inner bodies to a separate workflow',
        at: 'key',
      });
    }
    this.#bodyDepth++;
    this.#checkKeys(BODY, value);
    this.#bodyDepth--;
  }

  #checkKeys(record: RecordType, value: JsonObject): void {
    /** Correct names of the misspelt keys, which are not reported missing as well. */
    let meant: Set<string> = NONE;
    const { document: workflow = {}, rules } = this.#options;
    for (const key of Object.keys(value)) {
      const known = Object.hasOwn(record.keys, key) ? record.keys[key] : undefined;
      this.#path.push(key);
      if (!known) meant = this.#reportUnknownKey(record, key, value, meant);
      else if (known.later) this.#reportLater(key);
      else if (!this.#isAbsent(value[key])) this.check(known.type, value[key] ?? null, `'${key}'`, known);
      this.#path.pop();
    }
    for (const key of requiredKeys(record)) {
      if (this.#isAbsent(Object.hasOwn(value, key) ? value[key] : undefined) && !meant.has(key))
        this.#reportMissing(record, key);
    }
    rules[record.name]?.({ record, value, meant, workflow, report: this.#report, warn: this.#warn });
    if (record.name === 'edge') this.#checkErrorMatch(value);
  }

  #isAbsent(value: Json | undefined): boolean {
    return value === undefined || (value === null && this.#options.isNullAbsent === true);
  }

  check(type: ValueType, value: Json, subject: string, key?: KeyType): void {
    if (isMisplacedExpression(type, value)) return this.#reportMisplaced(type, subject);
    if (!acceptsJsonType(type, value)) return this.#reportInvalidType(type, value, subject, key);
    if (type.is === 'either') {
      const alternative = type.of.find((candidate) => acceptsJsonType(candidate, value));
      if (alternative !== undefined) this.check(alternative, value, subject, key);
    } else if (type.is === 'list') {
      if (!Array.isArray(value)) return this.check(type.of, value, subject, key);
      value.forEach((item, index) => {
        this.#path.push(index);
        this.check(type.of, item, `an item of ${subject}`);
        this.#path.pop();
      });
    } else if (type.is === 'integer' || type.is === 'number') {
      if (typeof value === 'number') this.#checkNumber(type, value, subject);
    } else if (typeof value === 'string') this.#checkText(type, value, subject);
    else if (isJsonObject(value)) {
      if (type.is === 'map') this.#checkMap(type, value);
      else if (type.is === 'record') this.checkRecord(type.record, value);
    }
  }

  #checkMap({ of, anyKeys = false }: ValueType & { is: 'map' }, value: JsonObject): void {
    for (const key of Object.keys(value)) {
      if (this.#problems.full) return;
      this.#path.push(key);
      if (!this.#options.isData && key === '__proto__') {
        this.#report({ code: 'RESERVED_KEY', message: "'__proto__' is reserved", hint: 'use another name', at: 'key' });
      } else if (!anyKeys) this.#checkId(key, 'key');
      this.check(of, value[key] ?? null, `'${shorten(key)}'`);
      this.#path.pop();
    }
  }

  #checkText(
    type: Exclude<ValueType, { is: 'either' | 'list' | 'integer' | 'number' }>,
    value: string,
    subject: string,
  ): void {
    switch (type.is) {
      case 'id':
        return this.#checkId(value, 'value');
      case 'choice':
        if (!type.of.includes(value)) this.#reportChoice(type.of, value, subject);
        return;
      case 'name':
        if (value.trim() === '') this.#report({ code: 'WRONG_TYPE', message: `${subject} is empty` });
        return;
      case 'duration':
        return this.#checkDuration(type, value, subject);
      case 'moment':
        return this.#checkMoment(value, subject);
      case 'percent':
        return this.#checkPercent(type, value, subject);
      case 'expression':
        if (value.trim() === '') {
          this.#report({
            code: 'WRONG_TYPE',
            message: `${subject} is empty`,
            hint: 'write an expression or remove the key',
          });
        }
        return;
      case 'action':
        return this.#checkAction(value);
      case 'edgeText':
        return this.#checkEdgeText(value);
      case 'text':
      case 'value':
      case 'boolean':
      case 'object':
      case 'schema':
      case 'map':
      case 'record':
      case 'custom':
        return;
    }
  }

  #checkId(id: string, at: 'key' | 'value'): void {
    if (id.length > DEFINITION_LIMITS.maxIdLength) {
      const hint = `an id has at most ${DEFINITION_LIMITS.maxIdLength} characters`;
      this.#report({ code: 'BAD_ID', message: `the id '${shorten(id)}' is too long`, hint, at });
    } else if (!ID.test(id)) {
      const slug = id
        .normalize('NFKD')
        .replace(/\p{M}/gu, '')
        .replace(/[^a-zA-Z0-9_-]+/g, '-')
        .replace(/^-+|-+$/g, '');
      const example = slug === '' ? '' : `, e.g. '${shorten(slug)}'`;
      const several = ['needs', 'to', 'default'].includes(String(this.#path.at(-1))) && id.includes(',');
      const hint = several
        ? `several ids are a list: [${shorten(id)}]`
        : `an id has letters, digits, '_' and '-' only${example}`;
      this.#report({ code: 'BAD_ID', message: `'${shorten(id)}' is not an id`, hint, at });
    }
  }

  #checkAction(reference: string): void {
    if (ACTION.test(reference) && reference.length <= DEFINITION_LIMITS.maxIdLength) return;
    const mended = reference
      .trim()
      .toLowerCase()
      .replace(/\s+/g, '')
      .replace(/@v(?=\d)/, '@')
      .replace(/(@\d+\.\d+)\..*$/, '$1');
    const hint =
      ACTION.test(mended) && mended !== reference
        ? `did you mean '${shorten(mended)}'?`
        : 'write it as http.request, http.request@1 or http.request@1.2';
    this.#report({ code: 'BAD_ACTION_REFERENCE', message: `'${shorten(reference)}' is not an action reference`, hint });
  }

  #checkDuration(type: ValueType & { is: 'duration' }, value: string, subject: string): void {
    if (type.or?.includes(value) || (type.expression && value.includes('{{')) || (type.moment && isDate(value))) return;
    const ms = parseDuration(value);
    if (typeof ms !== 'number') {
      const word = type.or && didYouMean(value, type.or);
      const bare = type.expression && value.trim().startsWith('$') ? `{{ ${shorten(value.trim())} }}` : word;
      const hint = bare === undefined ? ms.hint : `did you mean '${bare}'?`;
      this.#report({ code: 'BAD_DURATION', message: `${subject}: ${ms.message}`, hint });
    } else if (type.positive && ms === 0) {
      this.#report({
        code: 'BAD_DURATION',
        message: `${subject} must be longer than zero`,
        hint: 'remove the key for no limit',
      });
    }
  }

  /** A text that begins like a date must be one; any other text is an expression, which is parsed later. */
  #checkMoment(text: string, subject: string): void {
    if (!/^\s*(?:\d|$)/.test(text) || isDate(text)) return;
    const isDuration = typeof parseDuration(text.trim()) === 'number';
    this.#report({
      code: 'BAD_MOMENT',
      message: `${subject}: '${shorten(text)}' is not a date`,
      hint: isDuration
        ? `for a duration use for: ${shorten(text.trim())}`
        : 'write it as 2030-01-01T08:00:00Z, or as an expression',
    });
  }

  #checkPercent(type: ValueType & { is: 'percent' }, text: string, subject: string): void {
    if (PERCENT.test(text) || (type.expression && isExpression(text))) return;
    const hint = /^\d+$/.test(text) ? `remove the quotes for a number, or add the sign: ${text}%` : 'write it as 80%';
    this.#report({ code: 'BAD_PERCENT', message: `${subject} must be from 0% to 100%, not '${shorten(text)}'`, hint });
  }

  #checkEdgeText(text: string): void {
    const edge = parseEdgeText(text);
    if (!Array.isArray(edge)) return this.#report({ code: 'BAD_EDGE', message: edge.message, hint: edge.hint });
    for (const part of edge) {
      if (part.id.length > DEFINITION_LIMITS.maxIdLength) this.#checkId(part.id, 'value');
    }
  }

  #checkNumber(type: ValueType & { is: 'integer' | 'number' }, value: number, subject: string): void {
    const isWhole = type.is !== 'integer' || Number.isInteger(value);
    if (!isWhole || !Number.isFinite(value)) return this.#reportInvalidType(type, value, subject);
    if (value >= type.min && value <= type.max) return;
    this.#report({ code: 'OUT_OF_RANGE', message: `${subject} must be ${describeType(type)}, not ${value}` });
  }

  /** The type of `match` depends on `on`, which the tables cannot express. */
  #checkErrorMatch(edge: JsonObject): void {
    if (edge.on !== 'error' || edge.match === undefined) return;
    this.#path.push('match');
    this.check({ is: 'record', record: ERROR_MATCH }, edge.match, "'match'", {
      type: { is: 'value' },
      doc: '',
      example: 'match: { code: TIMEOUT }',
    });
    this.#path.pop();
  }

  /** Returns `meant` with the key that was probably meant. */
  #reportUnknownKey(record: RecordType, key: string, value: JsonObject, meant: Set<string>): Set<string> {
    if (this.#options.isData && key === '__proto__') return meant;
    const now = record.removed !== undefined && Object.hasOwn(record.removed, key) ? record.removed[key] : undefined;
    if (now !== undefined) {
      const message = `'${key}' is no longer a key of ${record.title}`;
      this.#report({ code: 'UNKNOWN_KEY', message, hint: now, at: 'key' });
      return meant;
    }
    const near = nearestKey(record, key);
    const hint = near === undefined ? listKeys(record) : `did you mean '${near}'?`;
    this.#report({ code: 'UNKNOWN_KEY', message: `unknown key '${shorten(key)}' in ${record.title}`, hint, at: 'key' });
    return near === undefined || Object.hasOwn(value, near) ? meant : new Set([...meant, near]);
  }

  #reportLater(key: string): void {
    const hint = 'remove it; this version of the engine does not support it, and no key is ever ignored';
    this.#report({
      code: 'NOT_BUILT_YET',
      message: `'${key}' is reserved in the language but not implemented yet`,
      hint,
      at: 'key',
    });
  }

  #reportMissing(record: RecordType, key: string): void {
    const example = record.keys[key]?.example;
    const hint = example === undefined ? `add '${key}'` : `add it, e.g. ${example}`;
    this.#report({ code: 'MISSING_KEY', message: `${record.title} must have the key '${key}'`, hint, at: 'key' });
  }

  #reportChoice(choices: readonly string[], value: string, subject: string): void {
    const near = didYouMean(value, choices);
    const hint = near === undefined ? undefined : `did you mean '${near}'?`;
    const message = `${subject} must be ${describeType({ is: 'choice', of: choices })}, not '${shorten(value)}'`;
    this.#report({ code: 'UNKNOWN_CHOICE', message, hint });
  }

  #reportInvalidType(type: ValueType, value: Json, subject: string, key?: KeyType): void {
    if (this.#options.isData && typeof value === 'number' && !Number.isFinite(value)) return;
    const message = `${subject} must be ${describeType(type)}, not ${describeValue(value)}`;
    const example = key?.example === undefined ? undefined : `e.g. ${key.example}`;
    const hint = typeHint(type, value) ?? example ?? (type.is === 'record' ? listKeys(type.record) : undefined);
    this.#report({ code: 'WRONG_TYPE', message, hint });
  }

  #reportMisplaced(type: ValueType, subject: string): void {
    this.#report({
      code: 'MISPLACED_EXPRESSION',
      message: `${subject} cannot be an expression: its value must be known before a node becomes ready`,
      hint: `write ${describeType(type)}`,
    });
  }

  readonly #report = (finding: Finding): void => {
    this.#problems.error({ ...finding, path: [...this.#path, ...(finding.path ?? [])] });
  };

  readonly #warn = (finding: Finding): void => {
    this.#problems.warning({ ...finding, path: [...this.#path, ...(finding.path ?? [])] });
  };
}

function listKeys({ title, keys }: RecordType): string {
  const all = Object.keys(keys).filter((name) => !keys[name]?.later);
  return `the keys of ${title} are ${all.join(', ')}`;
}

/** The key that a misspelt name, or another tool's name, stands for. */
function nearestKey(record: RecordType, name: string): string | undefined {
  const keyOf = new Map<string, string>();
  for (const [key, { alias = [] }] of Object.entries(record.keys)) for (const other of alias) keyOf.set(other, key);
  for (const key of Object.keys(record.keys)) keyOf.set(key, key);
  const near = keyOf.has(name) ? name : didYouMean(name, keyOf.keys());
  return near === undefined ? undefined : keyOf.get(near);
}

/** A hint for a known trap, such as `yes` in YAML. */
function typeHint(type: ValueType, value: Json): string | undefined {
  if (type.is === 'custom') return type.hintOf?.(value);
  if (value === null) return 'give it a value, or remove the key';
  const wants = (...names: ValueType['is'][]): boolean =>
    names.includes(type.is) || (type.is === 'either' && type.of.some((inner) => names.includes(inner.is)));
  if (typeof value === 'string') {
    if (wants('boolean') && /^(?:yes|no|on|off|y|n)$/i.test(value))
      return 'in YAML 1.2, only true and false are booleans';
    if (wants('integer', 'number', 'boolean') && /^(?:-?\d+(?:\.\d+)?|true|false)$/.test(value))
      return 'remove the quotes';
  }
  if (typeof value === 'number' && wants('duration')) return `add a unit: did you mean ${value}s or ${value}ms?`;
  if (typeof value !== 'object' && wants('list') && !wants('record'))
    return `write it as a list: [${shorten(String(value))}]`;
  if (typeof value === 'number' || typeof value === 'boolean') {
    if (wants('text', 'id', 'action', 'name')) return `put it in quotes: "${value}"`;
    const choice = type.is === 'either' ? type.of.find(({ is }) => is === 'choice') : type;
    if (choice?.is === 'choice') return `e.g. ${choice.of[0]}`;
  }
  return undefined;
}

function describeValue(value: Json): string {
  if (value === null) return 'nothing';
  if (typeof value === 'string') return `the string '${shorten(value)}'`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  return isJsonObject(value) ? 'a mapping' : String(value);
}

/** Formats a value for a message, on one line. */
function shorten(text: string): string {
  return clipped(text.replace(/\s+/g, ' '));
}

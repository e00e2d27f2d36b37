/** A YAML document as plain data, with the position of every part. */
import {
  type DocumentPath,
  didYouMean,
  isJsonObject,
  type Json,
  type Problem,
  readYaml,
  type SourceMap,
  type SourceRange,
} from '@nebula/core';

export class TestDocument {
  readonly value: Json | undefined;
  readonly problems: Problem[];
  private readonly source: SourceMap;

  constructor(text: string) {
    const { value, source, problems } = readYaml(text, undefined);
    this.problems = [...problems.sorted()];
    this.source = source;
    this.value = this.problems.length > 0 ? undefined : value;
  }

  report(path: DocumentPath, code: string, message: string, hint?: string, part: 'key' | 'value' = 'value'): void {
    const range = this.rangeOf(path, part);
    this.problems.push({
      severity: 'error',
      code,
      message,
      path,
      ...(hint !== undefined && { hint }),
      ...(range !== undefined && { range }),
    });
  }

  /** Reports a value that is not of the kind that `what` must be. */
  wrongType(path: DocumentPath, what: string, kind: string, value: Json, hint?: string): void {
    this.report(path, 'WRONG_TYPE', `${what} must be ${kind}, not ${describe(value)}`, hint);
  }

  /** Returns the members of an object; reports values that are not objects, and unknown keys. */
  members(value: Json | undefined, path: DocumentPath, what: string, keys: readonly string[]): Record<string, Json> {
    if (value === undefined) return {};
    if (!isJsonObject(value)) {
      this.wrongType(path, what, 'a mapping', value, `allowed keys: ${keys.join(', ')}`);
      return {};
    }
    for (const key of Object.keys(value)) {
      if (keys.includes(key)) continue;
      const near = didYouMean(key, keys);
      const hint = near === undefined ? `allowed keys: ${keys.join(', ')}` : `did you mean '${near}'?`;
      this.report([...path, key], 'UNKNOWN_KEY', `unknown key '${key}' in ${what}`, hint, 'key');
    }
    return value as Record<string, Json>;
  }

  list(value: Json | undefined, path: DocumentPath, what: string): readonly Json[] {
    if (value === undefined) return [];
    if (Array.isArray(value)) return value;
    this.wrongType(path, what, 'a list', value);
    return [];
  }

  textAt(value: Json | undefined, path: DocumentPath, what: string): string | undefined {
    if (value === undefined || typeof value === 'string') return value;
    this.wrongType(path, what, 'a string', value);
    return undefined;
  }

  flag(value: Json | undefined, path: DocumentPath, what: string): boolean | undefined {
    if (value === undefined || typeof value === 'boolean') return value;
    this.wrongType(path, what, 'true or false', value);
    return undefined;
  }

  texts(value: Json | undefined, path: DocumentPath, what: string): string[] {
    return this.list(value, path, what).flatMap(
      (item, at) => this.textAt(item, [...path, at], `an item of ${what}`) ?? [],
    );
  }

  rangeOf(path: DocumentPath, part: 'key' | 'value' = 'value'): SourceRange | undefined {
    return this.source.rangeOf(path, part);
  }
}

export function describe(value: Json): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a mapping' : typeof value === 'string' ? `the string '${value}'` : String(value);
}

/** A YAML document as plain data, with the position of every part. */
import { type DocumentPath, didYouMean, isJsonObject, type Json, type Problem, type SourceRange } from '@nebula/core';
import { isMap, isPair, isSeq, LineCounter, type Node, type ParsedNode, parseDocument, type YAMLError } from 'yaml';

export class TestDocument {
  readonly text: string;
  readonly value: Json | undefined;
  readonly problems: Problem[] = [];
  private readonly lines = new LineCounter();
  private readonly root: ParsedNode | null;

  constructor(text: string) {
    this.text = text;
    const document = parseDocument(text, { lineCounter: this.lines });
    this.root = document.contents;
    for (const error of document.errors) this.problems.push(this.syntaxProblem(error));
    this.value = this.problems.length > 0 ? undefined : (document.toJS({ maxAliasCount: 100 }) as Json);
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

  /** Returns the members of an object; reports values that are not objects, and unknown keys. */
  members(value: Json | undefined, path: DocumentPath, what: string, keys: readonly string[]): Record<string, Json> {
    if (value === undefined) return {};
    if (!isJsonObject(value)) {
      this.report(
        path,
        'WRONG_TYPE',
        `${what} must be a mapping, not ${describe(value)}`,
        `allowed keys: ${keys.join(', ')}`,
      );
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
    this.report(path, 'WRONG_TYPE', `${what} must be a list, not ${describe(value)}`);
    return [];
  }

  textAt(value: Json | undefined, path: DocumentPath, what: string): string | undefined {
    if (value === undefined || typeof value === 'string') return value;
    this.report(path, 'WRONG_TYPE', `${what} must be a text, not ${describe(value)}`);
    return undefined;
  }

  texts(value: Json | undefined, path: DocumentPath, what: string): string[] {
    return this.list(value, path, what).flatMap(
      (item, at) => this.textAt(item, [...path, at], `an item of ${what}`) ?? [],
    );
  }

  rangeOf(path: DocumentPath, part: 'key' | 'value' = 'value'): SourceRange | undefined {
    let node: unknown = this.root;
    let key: Node | undefined;
    for (const step of path) {
      if (isMap(node)) {
        const pair = node.items.find(
          (item) => isPair(item) && String((item.key as { value?: unknown }).value) === String(step),
        );
        if (pair === undefined) break;
        key = pair.key as Node;
        node = pair.value;
      } else if (isSeq(node)) {
        const item = node.items[step as number];
        if (item === undefined) break;
        key = undefined;
        node = item;
      } else break;
    }
    const place = part === 'key' && key !== undefined ? key : ((node as Node | null) ?? key);
    const range = place?.range;
    return range === null || range === undefined ? undefined : this.rangeAt(range[0], range[1] - range[0]);
  }

  private rangeAt(offset: number, length: number): SourceRange {
    const { line, col } = this.lines.linePos(offset);
    return { offset, length, line, column: col };
  }

  private syntaxProblem(error: YAMLError): Problem {
    const [from, to] = error.pos;
    const message = error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? 'it is not YAML';
    return {
      severity: 'error',
      code: 'YAML_SYNTAX',
      message,
      path: [],
      range: this.rangeAt(from, Math.max(1, to - from)),
    };
  }
}

export function describe(value: Json): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a mapping' : typeof value === 'string' ? `the text '${value}'` : String(value);
}

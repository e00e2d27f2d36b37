/** The input and output of a rule about the keys of a record. */
import type { JsonObject } from '../value.ts';
import type { Finding } from './problem-list.ts';
import type { RecordType } from './value-type.ts';

export interface RuleContext {
  readonly record: RecordType;
  readonly value: JsonObject;
  /** Keys that are present under a misspelt name. */
  readonly meant: ReadonlySet<string>;
  readonly workflow: JsonObject;
  /** Paths are relative to the record. */
  report(finding: Finding): void;
  warn(finding: Finding): void;
}

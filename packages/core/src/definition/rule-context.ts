/** What a rule about a record's keys gets to see, and where it tells what it found. */
import type { JsonObject } from '../value.ts';
import type { Finding } from './problem-list.ts';
import type { RecordType } from './value-type.ts';

export interface RuleContext {
  readonly record: RecordType;
  readonly value: JsonObject;
  /** Keys that are there under a misspelt name. */
  readonly meant: ReadonlySet<string>;
  readonly workflow: JsonObject;
  /** Paths count from the record. */
  report(finding: Finding): void;
  warn(finding: Finding): void;
}

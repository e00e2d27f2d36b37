/** The outcomes of test files in YAML and TypeScript. */
import type { Difference } from '@nebula/testing';

export interface TestOutcome {
  readonly name: string;
  readonly passed: boolean;
  readonly differences: readonly Difference[];
  readonly failure?: { readonly code?: string; readonly message: string; readonly hint?: string };
  /** `order.test.yaml:12:5`. */
  readonly place?: string;
  /** Nodes of the run, in the order in which they finished. */
  readonly path: readonly string[];
  readonly crashes?: number;
}

export interface FileOutcome {
  readonly file: string;
  readonly tests: readonly TestOutcome[];
  /** Nothing could be run: what is wrong with the file, ready to be shown. */
  readonly broken?: { readonly code: string; readonly report: readonly string[] };
}

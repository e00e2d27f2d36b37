/** The types of a workflow that is written with `workflow()` of `@nebula/sdk`, which this package does not import. */
import type { AnswerOf } from './contract/index.ts';

/** A workflow of the SDK: its id, and its types for the compiler. */
export interface TypedWorkflow<Input = unknown, Output = unknown> {
  readonly id: string;
  readonly '~types'?: { readonly input: Input; readonly output: Output };
}

type TypesOf<W extends TypedWorkflow> = NonNullable<W['~types']>;

export type InputOf<W extends TypedWorkflow> = TypesOf<W>['input'];
export type OutputOf<W extends TypedWorkflow> = TypesOf<W>['output'];

type Result = AnswerOf<'getResult'>;

/** The result of an ended run: a completed one has the output, each other one has none. */
export type ResultOf<Output> =
  | (Omit<Result, 'status' | 'output'> & { readonly status: 'completed'; readonly output: Output })
  | (Omit<Result, 'status' | 'output'> & {
      readonly status: Extract<Result['status'], 'failed' | 'cancelled' | 'timed-out'>;
      readonly output: unknown;
    });

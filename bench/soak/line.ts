/** Messages of the worker of a soak run, one line of JSON each. */
export type Line =
  | {
      readonly what: 'begin' | 'done' | 'failed';
      readonly executionId: string;
      readonly node: string;
      readonly attempt: number;
      readonly key: string;
    }
  /** `ms`: from start to end, if both were in this process. */
  | {
      readonly what: 'ended';
      readonly executionId: string;
      readonly status: string;
      readonly error: string | null;
      readonly ms: number | null;
    }
  | { readonly what: 'memory'; readonly heapBytes: number; readonly residentBytes: number }
  | { readonly what: 'open' }
  | { readonly what: 'trouble'; readonly message: string };

/** Messages to the worker: a run to complete, known or not; a request for its memory usage. */
export type Order = { readonly run: string } | { readonly measure: true };

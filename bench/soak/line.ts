/** What the worker of a soak run says, a line of JSON each. */
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

/** What it is told: a run to bring to its end, whether it is known already or not; a look at its memory. */
export type Order = { readonly run: string } | { readonly measure: true };

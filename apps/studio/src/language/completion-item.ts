/** An entry of a list of completions. */
export interface CompletionItem {
  readonly label: string;
  readonly kind: 'key' | 'value' | 'action' | 'node' | 'variable' | 'property' | 'function';
  /** What is inserted, if it is not the label. */
  readonly apply?: string;
  /** The type, beside the label. */
  readonly detail?: string;
  /** The value of the last run. */
  readonly value?: string;
  readonly doc?: string;
}

/** What the page of a run shows: it is all in the address. */
import type { Scopes } from '@nebula/canvas/model';

export interface RunView {
  /** The selected node, by its path in the run. */
  readonly node: string | undefined;
  /** The frame whose state is shown; undefined: now. */
  readonly seq: number | undefined;
  /** The time of that state. */
  readonly time: number;
  /** The status of the run at that time. */
  readonly status: string;
  readonly tab: string | undefined;
  /** The iteration of each loop that is looked at. */
  readonly scopes: Scopes;
}

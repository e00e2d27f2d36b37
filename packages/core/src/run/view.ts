/** A run as its expressions see it. */
import type { RunError } from '../error.ts';
import type { NodeView, Scope } from '../expression/index.ts';
import type { Json, JsonObject } from '../value.ts';
import { type BlobLookup, heldValue } from './held.ts';
import type { NodeState, RunState, ScopeState } from './state.ts';

export class RunScope implements Scope {
  private readonly state: RunState;
  private readonly scope: ScopeState;
  private readonly lookup: BlobLookup;
  private readonly ending: Ending | undefined;

  /** `ending`: a node whose end is being decided on; its edges see it as it will be. */
  constructor(state: RunState, scope: ScopeState, lookup: BlobLookup, ending?: Ending) {
    this.state = state;
    this.scope = scope;
    this.lookup = lookup;
    this.ending = ending;
  }

  get input(): Json {
    return heldValue(this.state.input, this.lookup);
  }

  get trigger(): Json {
    return this.state.trigger;
  }

  get vars(): JsonObject {
    return this.state.vars;
  }

  get execution(): JsonObject {
    return {
      id: this.state.executionId,
      startedAt: new Date(this.state.startedAt).toISOString(),
      attempt: this.state.reopened + 1,
    };
  }

  get workflow(): JsonObject {
    return { id: this.state.plan.workflowId, version: this.state.plan.version };
  }

  node(id: string): NodeView | undefined {
    const index = this.scope.graph.indexOf.get(id);
    if (index === undefined) return undefined;
    if (this.ending?.node.plan.index === index) return new EndingView(this.ending, this.lookup);
    return new StateView(this.scope.nodes[index] as NodeState, this.lookup);
  }
}

/** How a node is about to end. */
export interface Ending {
  readonly node: NodeState;
  readonly status: 'completed' | 'failed' | 'skipped';
  readonly output: Json;
  readonly error: RunError | null;
}

class StateView implements NodeView {
  private readonly state: NodeState;
  private readonly lookup: BlobLookup;

  constructor(state: NodeState, lookup: BlobLookup) {
    this.state = state;
    this.lookup = lookup;
  }

  get output(): Json {
    return this.state.phase.status === 'completed' ? heldValue(this.state.output, this.lookup) : null;
  }

  get status(): string {
    return this.state.phase.status;
  }

  get success(): boolean {
    return this.state.phase.status === 'completed';
  }

  get error(): RunError | null {
    const { phase } = this.state;
    return phase.status === 'failed' || phase.status === 'unknown' || phase.status === 'waiting' ? phase.error : null;
  }

  get attempts(): number {
    return this.state.attempts;
  }

  get input(): Json {
    return heldValue(this.state.input, this.lookup);
  }
}

class EndingView implements NodeView {
  readonly output: Json;
  readonly status: string;
  readonly success: boolean;
  readonly error: RunError | null;
  readonly attempts: number;
  readonly input: Json;

  constructor({ node, status, output, error }: Ending, lookup: BlobLookup) {
    this.output = output;
    this.status = status;
    this.success = status === 'completed';
    this.error = error;
    this.attempts = node.attempts;
    this.input = heldValue(node.input, lookup);
  }
}

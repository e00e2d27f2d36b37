/** The other workflows that a workflow runs. */
import type { WorkflowDefinition } from '@nebula/core';
import { invalid } from './render.ts';

/** A workflow that is only known by its id. */
export interface NamedWorkflow<Input, Output> {
  readonly id: string;
  readonly '~types'?: { readonly input: Input; readonly output: Output };
}

/** A workflow as data, which remembers its types for the compiler. */
export interface Workflow<Input, Output> extends NamedWorkflow<Input, Output> {
  readonly definition: WorkflowDefinition;
  /** Those that it runs, and those that they run: to be registered before it. */
  readonly uses: readonly WorkflowDefinition[];
  /** As JSON it is its definition. */
  toJSON(): WorkflowDefinition;
}

export type AnyWorkflow<Input, Output> = Workflow<Input, Output> | NamedWorkflow<Input, Output>;

/** The input that a workflow is started with. */
export type WorkflowInput<W> = W extends NamedWorkflow<infer Input, unknown> ? Input : never;
export type WorkflowOutput<W> = W extends NamedWorkflow<unknown, infer Output> ? Output : never;

export class Uses {
  readonly #known = new Map<string, WorkflowDefinition>();

  add(used: AnyWorkflow<unknown, unknown>): void {
    if (!('definition' in used)) return;
    for (const definition of [...used.uses, used.definition]) {
      const known = this.#known.get(definition.id);
      if (known !== undefined && known !== definition) {
        throw invalid(`there are two workflows '${definition.id}'`, 'give one of them another id');
      }
      this.#known.set(definition.id, definition);
    }
  }

  list(): readonly WorkflowDefinition[] {
    return [...this.#known.values()];
  }
}

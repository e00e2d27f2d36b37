/** The other workflows that a workflow runs. */
import type { WorkflowDefinition } from '@nebula/core';
import { invalid } from './render.ts';

/** A workflow known only by its id. */
export interface NamedWorkflow<Input, Output> {
  readonly id: string;
  readonly '~types'?: { readonly input: Input; readonly output: Output };
}

/** A workflow as data that carries its types for the compiler. */
export interface Workflow<Input, Output> extends NamedWorkflow<Input, Output> {
  readonly definition: WorkflowDefinition;
  /** The workflows that it runs, directly and indirectly; they must be registered first. */
  readonly uses: readonly WorkflowDefinition[];
  /** Serialises to the definition. */
  toJSON(): WorkflowDefinition;
}

export type AnyWorkflow<Input, Output> = Workflow<Input, Output> | NamedWorkflow<Input, Output>;

/** The type of the input of a workflow. */
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

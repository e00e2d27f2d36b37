/**
 * Compiles definitions against the actions of a catalog, and keeps the newest plans: validating, registering and
 * starting a definition compiles it once. Needs no store.
 *
 *  1 A plan is kept by project, revision of the catalog, and content without the version.
 *  2 A definition that inlines workflows is not kept: it may be pinned to other versions when it is registered.
 *  3 A further check takes the kept plan only if it would find nothing: the first check found no problem, so there is
 *    none to give another position; it verified, if this one does; no capability exceeds the ceiling; and the
 *    definition runs no other workflow, which may have changed.
 */
import type { Action, Capabilities, Catalog, RetryPolicyFunction } from './action.ts';
import { type Ceiling, isWithin } from './capability/narrow.ts';
import { announcedAction, createCatalog, type OpenCatalog } from './catalog.ts';
import { type Compilation, type CompileOptions, compilePlan, compileSteps } from './compile.ts';
import type { WorkflowDefinition } from './definition/model.ts';
import { EXPRESSION_LIMITS, type ExpressionLimits } from './limits.ts';
import type { CallbackUrl, Plan } from './plan/plan.ts';
import { askedBy, usedWorkflows } from './plan/workflows.ts';
import type { Steps } from './steps.ts';

const MAX_PLANS = 16;

/** The options of a process, for all its definitions. */
type ProcessOptions = Pick<CompileOptions, 'limits' | 'now' | 'callbackUrl'>;

type Workflows = NonNullable<CompileOptions['workflows']>;

export interface CheckOptions extends Omit<CompileOptions, keyof ProcessOptions | 'isAccepted'> {
  /** Without it, the definition may name the announced actions of all projects. */
  readonly project?: string | undefined;
}

/** The actions and the settings of a process, as far as plans depend on them. */
export interface ProcessSettings {
  readonly actions: readonly Action[];
  readonly retryPolicies?: Readonly<Record<string, RetryPolicyFunction>>;
  /** Capabilities that the operator requests for every workflow. */
  readonly capabilities?: Capabilities;
  /** Labels of this process: nodes that need other labels go to remote workers. `all`: there are no remote workers. */
  readonly labels?: readonly string[] | 'all';
  readonly announced?: readonly Action[];
  /** Limits of one evaluation of an expression; those left out keep their default. */
  readonly expressionLimits?: Partial<ExpressionLimits>;
  /** The URLs of nodes that wait for a call: `$nodes.<id>.callbackUrl`. Without it nodes have none. */
  readonly callbacks?: { readonly url: CallbackUrl };
}

/** `now`: the clock that limits evaluations. */
export function definitionChecks(settings: ProcessSettings, now?: () => number): DefinitionChecks {
  const { actions, retryPolicies, capabilities, labels, announced = [], expressionLimits, callbacks } = settings;
  const catalog = createCatalog(actions, retryPolicies, capabilities, labels);
  catalog.announce(announced);
  const limits = { ...EXPRESSION_LIMITS, ...expressionLimits };
  return new DefinitionChecks(catalog, { limits, callbackUrl: callbacks?.url, ...(now && { now }) });
}

interface Checked {
  readonly plan: Plan;
  readonly hasProblems: boolean;
  readonly isVerified: boolean;
  readonly isAlone: boolean;
}

export class DefinitionChecks {
  readonly catalog: OpenCatalog;
  readonly #options: ProcessOptions;
  readonly #checked = new Map<string, Checked>();

  constructor(catalog: OpenCatalog, options: ProcessOptions = {}) {
    this.catalog = catalog;
    this.#options = options;
  }

  check(definition: WorkflowDefinition, { project, ...options }: CheckOptions): Compilation {
    const known = this.#passing(definition, project, options);
    if (known !== undefined) return { plan: known.plan, problems: [] };
    const compiled = compilePlan(definition, this.catalog.within(project), { ...this.#options, ...options });
    const { plan } = compiled;
    // A draft with errors is never registered.
    if (plan === undefined || options.isGraphWhole !== undefined) return compiled;
    const used = usedWorkflows(definition);
    if (used.some(({ mode }) => mode !== 'child')) return compiled;
    if (this.#checked.size >= MAX_PLANS) this.#checked.delete(this.#checked.keys().next().value as string);
    this.#checked.set(this.#key(project, contentOf(definition)), {
      plan,
      hasProblems: compiled.problems.length > 0,
      isVerified: options.verify === true,
      isAlone: used.length === 0,
    });
    return compiled;
  }

  /** Whether `check` would return a kept plan. */
  isChecked(definition: WorkflowDefinition, { project, ...options }: CheckOptions): boolean {
    return this.#passing(definition, project, options) !== undefined;
  }

  #passing(
    definition: WorkflowDefinition,
    project: string | undefined,
    { verify = false, ceiling = 'all' }: { readonly verify?: boolean; readonly ceiling?: Ceiling },
  ): Checked | undefined {
    const known = this.#checked.get(this.#key(project, contentOf(definition)));
    if (known === undefined || known.hasProblems || !known.isAlone || (verify && !known.isVerified)) return undefined;
    return isWithin(askedBy(definition), ceiling) ? known : undefined;
  }

  /** The plan of a checked definition with this content. */
  planOf(project: string | undefined, content: string): Plan | undefined {
    return this.#checked.get(this.#key(project, content))?.plan;
  }

  /**
   * Compiles a registered definition, in steps. Newer limits do not apply to it, and its plan is not kept here. With
   * `isWithoutActions`, actions that are missing here are taken as ones of remote workers: the plan serves to read a run
   * and to end it.
   */
  compileAccepted(
    definition: WorkflowDefinition,
    project: string | undefined,
    workflows: Workflows,
    { isWithoutActions = false }: { readonly isWithoutActions?: boolean } = {},
  ): Steps<Compilation> {
    const options = { ...this.#options, isAccepted: true, workflows };
    const catalog = this.catalog.within(project);
    return compileSteps(definition, isWithoutActions ? withMissingActions(catalog) : catalog, options);
  }

  /** Drops all plans, because actions were announced and the plans may name older ones. */
  forget(): void {
    this.#checked.clear();
  }

  #key(project: string | undefined, content: string): string {
    return `${project} ${this.catalog.revision} ${content}`;
  }
}

function withMissingActions(catalog: Catalog): Catalog {
  return {
    ...catalog,
    action(reference) {
      const [id = '', version = '1'] = reference.split('@');
      return catalog.action(reference) ?? announcedAction({ id, version, effect: 'once' });
    },
  };
}

function contentOf({ version: _, ...content }: WorkflowDefinition): string {
  return JSON.stringify(content);
}

/** State that all parts of the compiler share for one workflow. */
import type { Capabilities, Catalog } from '../action.ts';
import type { Ceiling } from '../capability/narrow.ts';
import type { Graphs } from '../definition/graphs.ts';
import type { BodyDefinition, RetryRules, WorkflowDefinition } from '../definition/model.ts';
import type { ProblemList } from '../definition/problem-list.ts';
import type { CompiledValue } from '../expression/index.ts';
import type { Graph } from '../graph/index.ts';
import type { DocumentPath } from '../problem.ts';
import type { Steps } from '../steps.ts';
import type { JsonSchema } from '../value.ts';
import type { GraphPlan, RetryPlan, SubPlan } from './plan.ts';
import type { GraphScope, LoopKind } from './scope.ts';
import type { ValueCompiler } from './value-compiler.ts';

export interface CompileContext {
  readonly definition: WorkflowDefinition;
  readonly catalog: Catalog;
  readonly problems: ProblemList;
  readonly values: ValueCompiler;
  /** Applies to action nodes and compensations without a `retry` of their own. */
  readonly defaultRetry: DefaultRetry | undefined;
  /** Capabilities of every action: those of the operator and those that the workflow asks for. */
  readonly granted: Capabilities;
  /** Inside a graph returned by an action: the grant of the dynamic node, which no node of the graph exceeds. */
  readonly bound?: Capabilities | undefined;
  /** Inside a graph returned by an action: names of the secrets of the dynamic node. No node of the graph uses others. */
  readonly secrets?: ReadonlySet<string> | undefined;
  /** The ceiling of runs, as far as known. */
  readonly ceiling: Ceiling;
  /** Names of `$vars`: declared, or assigned by some node. */
  readonly variables: ReadonlySet<string>;
  /** Graphs that were already built and checked. */
  readonly graphs: Graphs;
  /** False when edges are missing because they name unknown nodes; upstream relations are then unknown. */
  readonly isGraphWhole: boolean;
  readonly workflows: Workflows;
  /** Receives every compiled graph, for verification. */
  readonly record?: ((graph: GraphRecord) => unknown) | undefined;
  compileGraph(source: GraphSource, context: CompileContext): Steps<CompiledGraph>;
  /** Injected, because verification reads plans. */
  readonly verify: Verify;
}

/** Reports valid but pointless constructs in `graphs`, which have no errors. */
export type Verify = (
  definition: WorkflowDefinition,
  graphs: readonly GraphRecord[],
  find: Workflows['find'],
  problems: ProblemList,
) => Steps<void>;

/** The `retry` of the workflow, as written and as compiled. */
export interface DefaultRetry {
  readonly rules: RetryRules;
  readonly plan: RetryPlan;
}

/** Access to other workflows, as far as they are known. */
export interface Workflows {
  find(id: string, version: number | undefined): WorkflowDefinition | undefined;
  /** False when the set of workflows is unknown. */
  readonly isKnown: boolean;
  readonly ids: readonly string[];
  /**
   * Whether the plan, or a graph returned at run time, may call `uuid()` or `random()`, and whether it has nodes that
   * wait for a call. Set while it is compiled.
   */
  readonly uses: { draws: boolean; callbacks: boolean };
  /** Ids of this workflow and of those that inline it. */
  readonly around: readonly string[];
  compile(definition: WorkflowDefinition): Steps<CompiledInside>;
  /** Returns the same workflows, with grants limited to `bound`. */
  within(bound: Capabilities): Workflows;
}

/** An inlined workflow. */
export interface CompiledInside {
  readonly plan?: SubPlan;
  readonly problem?: string;
  /** The schema of its output, as far as known. */
  readonly output?: JsonSchema | undefined;
}

/** A graph to compile, and its context. */
export interface GraphSource {
  readonly body: BodyDefinition;
  /** Document path of its nodes and its output. */
  readonly path: DocumentPath;
  readonly graph: Graph;
  /** Indexes of its edges in the document's list, when that list is a different one. */
  readonly edgeIndexes?: readonly number[];
  /** The enclosing scope, and its node that runs this graph. */
  readonly outer?: { readonly scope: GraphScope; readonly node: number };
  /** The kind of loop that runs the graph. */
  readonly loop?: LoopKind;
  readonly isParallel?: boolean;
  /** The graph is the region of a split, in which the output of the split is the item. */
  readonly isSplit?: boolean;
  /** The schema of the loop's items, as far as known. */
  readonly item?: JsonSchema | undefined;
  /** The number of enclosing bodies. */
  readonly depth: number;
  /** The output of a graph that has none in the document. */
  readonly output?: CompiledValue;
  readonly outputReads?: readonly string[];
}

export interface CompiledGraph {
  /** Undefined when there are errors. */
  readonly plan: GraphPlan | undefined;
  /** The estimated duration of the longest path. */
  readonly longestMs: number;
  /** The schema of the graph's output, as far as known. */
  readonly output?: JsonSchema | undefined;
}

/** A graph that compiled without errors, with the data that verification needs. */
export interface GraphRecord {
  readonly source: GraphSource;
  readonly scope: GraphScope;
  readonly plan: GraphPlan;
  /** The document path of an edge, by its number in the graph. */
  edgePath(edge: number): DocumentPath;
}

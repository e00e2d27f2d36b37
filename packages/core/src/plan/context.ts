/** What all parts of the compiler share while they work on one workflow. */
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
  /** For action nodes, and compensations, that have no `retry` of their own. */
  readonly defaultRetry: DefaultRetry | undefined;
  /** Capabilities for every action: those of the operator and those that the workflow asks for. */
  readonly granted: Capabilities;
  /** Inside a graph that an action returned: what the dynamic node was granted, which no node of the graph exceeds. */
  readonly bound?: Capabilities | undefined;
  /** The ceiling of runs, as far as is known. */
  readonly ceiling: Ceiling;
  /** Names of `$vars`: declared, or assigned somewhere. */
  readonly variables: ReadonlySet<string>;
  /** Graphs that were built and checked already. */
  readonly graphs: Graphs;
  /** False when edges are missing, because they name nobody: what is upstream is then not known. */
  readonly isGraphWhole: boolean;
  readonly workflows: Workflows;
  /** Takes every graph that is compiled, for what is verified afterwards. */
  readonly record?: ((graph: GraphRecord) => unknown) | undefined;
  compileGraph(source: GraphSource, context: CompileContext): Steps<CompiledGraph>;
  /** Handed in, because the verification reads plans. */
  readonly verify: Verify;
}

/** Reports what is allowed but cannot be meant in `graphs`, which have no errors. */
export type Verify = (
  definition: WorkflowDefinition,
  graphs: readonly GraphRecord[],
  find: Workflows['find'],
  problems: ProblemList,
) => Steps<void>;

/** The `retry` of the workflow, as written and compiled. */
export interface DefaultRetry {
  readonly rules: RetryRules;
  readonly plan: RetryPlan;
}

/** Other workflows, as far as they are known. */
export interface Workflows {
  find(id: string, version: number | undefined): WorkflowDefinition | undefined;
  /** False when nobody said which workflows there are. */
  readonly isKnown: boolean;
  readonly ids: readonly string[];
  /** Whether an expression of the plan, or of a graph that comes later, may call `uuid()` or `random()`. */
  readonly draws: { isUsed: boolean };
  /** Ids of the workflows that are inlined around this one, this one included. */
  readonly around: readonly string[];
  compile(definition: WorkflowDefinition): Steps<CompiledInside>;
  /** The same workflows, granted nothing beyond `bound`. */
  within(bound: Capabilities): Workflows;
}

/** A workflow that is inlined. */
export interface CompiledInside {
  readonly plan?: SubPlan;
  readonly problem?: string;
  /** What is known of its output. */
  readonly output?: JsonSchema | undefined;
}

/** A graph to compile, and where it stands. */
export interface GraphSource {
  readonly body: BodyDefinition;
  /** Where its nodes and its output stand in the document. */
  readonly path: DocumentPath;
  readonly graph: Graph;
  /** Where its edges stand in the document's list, when the list is another one. */
  readonly edgeIndexes?: readonly number[];
  /** The scope around it, and the node there that runs it. */
  readonly outer?: { readonly scope: GraphScope; readonly node: number };
  /** What kind of loop runs it. */
  readonly loop?: LoopKind;
  readonly isParallel?: boolean;
  /** What is known of the items of that loop. */
  readonly item?: JsonSchema | undefined;
  /** How many bodies it is in. */
  readonly depth: number;
  /** The output of a graph that has none in the document. */
  readonly output?: CompiledValue;
  readonly outputReads?: readonly string[];
}

export interface CompiledGraph {
  /** Undefined when there are errors. */
  readonly plan: GraphPlan | undefined;
  /** By estimates, the longest way through it. */
  readonly longestMs: number;
  /** What is known of what a run of it gives. */
  readonly output?: JsonSchema | undefined;
}

/** A graph that was compiled without errors, with what a verification needs to know of it. */
export interface GraphRecord {
  readonly source: GraphSource;
  readonly scope: GraphScope;
  readonly plan: GraphPlan;
  /** Where an edge stands, by its number in the graph. */
  edgePath(edge: number): DocumentPath;
}

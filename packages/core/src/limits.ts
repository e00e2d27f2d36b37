/** Limits of the language, and limits and defaults of runs, each with its unit in its name. */

export const EXPRESSION_LIMITS = {
  maxAstDepth: 32,
  maxOperations: 10_000,
  maxStringBytes: 1_000_000,
  maxArrayLength: 100_000,
  maxEvaluationMs: 5_000,
} as const;

export type ExpressionLimits = { readonly [K in keyof typeof EXPRESSION_LIMITS]: number };

export const DEFINITION_LIMITS = {
  maxSourceBytes: 64 * 1024 * 1024,
  maxNestingDepth: 64,
  maxNodes: 200_000,
  maxYamlAliases: 100,
  maxIdLength: 200,
  /** Nesting depth of bodies (loops in loops). */
  maxBodyDepth: 16,
  /** Total length of the expressions and patterns of one node, edge or output; parsing this much takes 8 to 30 ms. */
  maxExpressionChars: 16 * 1024,
  /** Size of a graph returned by an action, as JSON. */
  maxDynamicBytes: 1024 * 1024,
  /** Lists, objects, members and items of a returned graph. */
  maxDynamicValues: 200_000,
  /** Nodes of a returned graph, including its bodies. */
  maxDynamicNodes: 2_000,
  /** Edges of a returned graph: members of `needs` and `edges`, cases and their targets. */
  maxDynamicEdges: 10_000,
} as const;

/** Limits of JSON Schemas and of validation against them. */
export const SCHEMA_LIMITS = {
  maxDepth: 64,
  maxValues: 20_000,
  /** All patterns of a schema together; compiling this many takes about 20 ms. */
  maxPatternInstructions: 10_000,
  /** A schema that is applied to a value is a step; so many take about 20 ms. */
  maxSteps: 200_000,
  /** Budget for large values: this many steps for each contained value. */
  maxStepsPerValue: 16,
  /** Budget for large values that are checked within a decision, in one piece: about 50 ms of simple steps. */
  maxStepsAtOnce: 800_000,
  /** After so many steps, a check that can be divided lets other work run: about 2 ms. */
  pieceSteps: 20_000,
  maxReferenceDepth: 1_000,
  /** Longer text matches no format. */
  maxFormatChars: 2_048,
  /** Maximum number of reported problems; an entirely wrong value has thousands. */
  maxProblems: 20,
} as const;

export const RETRY_DEFAULTS = {
  attempts: 1,
  /** Repeats allowed for attempts cut off by a crash or a lost lease. */
  lost: 10,
  initialMs: 1_000,
  maxMs: 5 * 60_000,
  multiplier: 2,
} as const;

export const RUN_DEFAULTS = {
  maxParallelism: 25,
  /** Iterations of a parallel loop that may be open at once. */
  maxConcurrency: 10,
  maxIterations: 1_000,
  priority: 5,
  /** Time that a cancelled attempt has to end by itself before it is abandoned. */
  cancelGraceMs: 5_000,
  inlineLimitBytes: 64 * 1024,
  /** Maximum nesting depth of an input, which keeps every recursive walk far from a stack overflow. */
  maxInputDepth: 200,
} as const;

/** Every limit of the language and the engine, by name and unit, in one place. */

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
  /** Loops in loops in loops. */
  maxBodyDepth: 16,
  /** Of the expressions of one node, one edge or one output together; parsing so many takes about 8 ms. */
  maxExpressionChars: 16 * 1024,
  /** A graph that an action returns, as JSON. */
  maxDynamicBytes: 1024 * 1024,
  /** Its lists, objects, members and items. */
  maxDynamicValues: 200_000,
  /** Nodes of such a graph, and of its bodies. */
  maxDynamicNodes: 2_000,
  /** Its edges: members of `needs`, cases and `edges`. */
  maxDynamicEdges: 10_000,
} as const;

/** JSON Schemas, and what checking a value against one may cost. */
export const SCHEMA_LIMITS = {
  maxDepth: 64,
  maxValues: 20_000,
  /** Of all patterns of a schema together; compiling so many takes about 40 ms. */
  maxPatternInstructions: 20_000,
  /** A schema that is applied to a value is a step; so many take about 20 ms. */
  maxSteps: 200_000,
  /** Large values may cost more: so many steps for each value in them. */
  maxStepsPerValue: 16,
  maxReferenceDepth: 1_000,
  /** Longer text fits no format. */
  maxFormatChars: 2_048,
  /** Problems that are told; a value that is altogether wrong has thousands. */
  maxProblems: 20,
} as const;

export const RUN_DEFAULTS = {
  maxParallelism: 25,
  /** Rounds of a parallel loop that may be open at once. */
  maxConcurrency: 10,
  maxIterations: 1_000,
  priority: 5,
  attempts: 1,
  /** Attempts cut off by a crash or a lost lease that are repeated. */
  lost: 10,
  /** How long a cancelled attempt may take to end by itself before it is given up. */
  cancelGraceMs: 5_000,
  inlineLimitBytes: 64 * 1024,
  /** How deep an input may nest: everything that walks a value stays far from the end of the stack. */
  maxInputDepth: 200,
} as const;

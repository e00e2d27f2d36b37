/**
 * The part of the core that authors' files load, through `@nebula/sdk`: values, errors, durations and the checker of
 * definitions. Readers of text, plans, runs and views stay out of it: a file with an action loads a fifth of the core.
 */
export { CAPABILITIES } from './definition/attempt-keys.ts';
export { readDefinitionObject } from './definition/check.ts';
export { problemsOf } from './definition/shape.ts';
export { recordOf } from './definition/value-type.ts';
export { parseDuration, parseSize } from './duration.ts';
export { NebulaError } from './error.ts';
export { Heap } from './heap.ts';
export { JOB_ACTION, JOB_FAILED, jobCommand } from './imports/job-action.ts';
export { EXPRESSION_LIMITS } from './limits.ts';
export { idsInOrder, writtenOrder } from './node-order.ts';
export { didYouMean } from './problem.ts';
export { canonicalJson, isJsonObject } from './value.ts';

export { compileSchema, describePath, type SchemaCheck } from './check.ts';
export { followPath } from './follow.ts';
export { givenProblem } from './given.ts';
export type { SchemaProblem } from './trail.ts';

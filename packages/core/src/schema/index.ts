export { compileSchema, describePath, givenProblem, type SchemaCheck } from './check.ts';
export { followPath } from './follow.ts';
export type { SchemaProblem } from './trail.ts';

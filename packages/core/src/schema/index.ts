export { compileSchema, describePath, describeProblems, givenProblem, type SchemaCheck } from './check.ts';
export { followPath } from './follow.ts';
export type { SchemaProblem } from './trail.ts';

export { compileSchema, describePath, type SchemaCheck, type SchemaProblem } from './check.ts';
export { followPath } from './follow.ts';

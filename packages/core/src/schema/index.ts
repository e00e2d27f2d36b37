export { compileSchema, describePath, MAX_SCHEMA_PROBLEMS, type SchemaCheck, type SchemaProblem } from './check.ts';
export { type Finding as PathFinding, followPath } from './follow.ts';

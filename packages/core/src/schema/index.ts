export {
  compileSchema,
  describePath,
  describeProblems,
  givenProblem,
  isUnfinished,
  type SchemaCheck,
} from './check.ts';
export { followPath } from './follow.ts';
export type { SchemaProblem } from './trail.ts';

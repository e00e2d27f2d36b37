export { byCodePoints, endOfPrefix } from './code-points.ts';
export {
  byCreation,
  decodeCursor,
  decodeTaskCursor,
  type ExecutionCursor,
  encodeCursor,
  encodeTaskCursor,
  type HumanTaskCursor,
  NO_DEADLINE,
} from './cursor.ts';
export { LogFollowers, type NewLine } from './follow-log.ts';
export { decodeLine, type EncodedLine, encodeLine, rankOf } from './log-line.ts';
export { bucketsOf, type EndedGroup, LOG_BUCKETS_PER_OCTAVE, logBucketOf, type StartedGroup } from './statistics.ts';

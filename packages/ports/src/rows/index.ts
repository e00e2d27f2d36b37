export { byCodePoints, endOfPrefix } from './code-points.ts';
export { byCreation, decodeCursor, type ExecutionCursor, encodeCursor } from './cursor.ts';
export { LogFollowers, type NewLine } from './follow-log.ts';
export { decodeLine, type EncodedLine, encodeLine, rankOf } from './log-line.ts';

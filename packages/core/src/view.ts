/**
 * What is shown of a run, for pages: its history from timeline events, without the code that compiles workflows and
 * decides on runs.
 */
export type { CauseCode } from './view/cause.ts';
export { isNodeEvent, isRunEvent, nodeStatusAfter, runStatusAfter } from './view/event-status.ts';
export { type IterationHistory, type NodeHistory, RunHistory, type Span } from './view/history.ts';
export type { TimelineEvent, TimelineEventType } from './view/timeline.ts';

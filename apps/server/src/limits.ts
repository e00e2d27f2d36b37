/** Every limit of the server on outside input, by name and unit. `budgets.ts` lists them with all others. */
import { DEFINITION_LIMITS } from '@nebula/core';

/** The endpoints of workflow-graph. */
export const COMPAT_LIMITS = {
  maxLabels: 50,
  maxLabelChars: 100,
  maxTtlSeconds: 3_600,
  maxPage: 1_000,
} as const;

/** Sockets, heads and bodies. */
export const HTTP_LIMITS = {
  headMs: 15_000,
  silentBodyMs: 30_000,
  requestMs: 180_000,
  /** Pause between two requests of a connection: longer than the 60 s of usual proxies. */
  keepAliveMs: 72_000,
  /** Pause between two signs of life on a stream or a WebSocket: proxies close idle connections. */
  pingMs: 15_000,
  /** Pings in a row that the peer of a WebSocket may leave unanswered: a slow one reads what was sent before. */
  maxUnansweredPings: 2,
  /** How long the rest of a refused body is read and dropped. */
  lingerMs: 5_000,
  maxConnections: 4_096,
  /** Not counted behind a proxy, whose address all callers share. */
  maxConnectionsPerAddress: 2_048,
  maxHeadBytes: 16_384,
  maxPathParameterChars: 5_000,
  /** Requests that begin in one turn of the event loop: each takes up to 0.7 ms. */
  maxBegunPerTurn: 16,
  /** The body of one request; `server.bodyLimit` sets another limit. */
  maxBodyBytes: 4 * 1024 * 1024,
  maxBodyBytesInFlight: 64 * 1024 * 1024,
  /** The first bytes of every body, for which there is room even when others send much: at most 256 MiB for all connections. */
  maxFreeBodyBytes: 64 * 1024,
  /** An input may nest 200 levels deep; code that walks a body stays far from the end of the stack. */
  maxBodyDepth: 256,
  /** Lists, objects, members and items of a JSON body: reading so many takes about 15 ms. */
  maxBodyValues: 100_000,
  /** A name of a member that comes for the first time counts for so many values: V8 needs about 1 µs for it. */
  valuesPerName: 6,
  /** Fields of a form that a webhook or a callback takes. */
  maxFormFields: 10_000,
  /** The body of a request with a definition, which has at most 1 Mi characters. */
  maxDefinitionBodyBytes: 2 * 1024 * 1024,
  /** The body of a request without authentication: a login. */
  maxPublicBodyBytes: 16 * 1024,
} as const;

/** Leases of remote workers, and how long a claim may wait for a task. */
export const LEASE_LIMITS = { minMs: 1_000, maxMs: 3_600_000, maxWaitMs: 60_000 } as const;

/** Patterns of file triggers. */
export const FILE_PATTERN_LIMITS = {
  maxChars: 500,
  maxSegments: 32,
  /** Alternatives of `{a,b}`, multiplied. */
  maxAlternatives: 64,
  /** Names of files and folders that one scan reads for the triggers of a project. */
  maxEntries: 100_000,
  /** Files that the triggers of a project watch. */
  maxFiles: 10_000,
} as const;

/** Live updates: followers of events and logs, over either protocol. */
export const LIVE_LIMITS = {
  maxFollowers: 4_096,
  /** Followers of one user, or of one key. */
  maxFollowersPerCaller: 2_048,
  /** Events that may wait for one listener. */
  maxBuffered: 2_000,
  /** Pages of the past that are read at the same time, and kept for others at the same place. */
  maxReplays: 4,
  maxSharedPages: 16,
  /** Followers that continue with a page of the past in one turn of the event loop: each takes up to 2 ms. */
  maxPagesPerTurn: 4,
  /** Bytes of the journal decoded in one turn of the event loop: about 5 ms. */
  maxDecodedBytesPerTurn: 512 * 1024,
  /** Lines of a log that are read at once, and sent as one write: up to 3 MB, about 12 ms. */
  maxLogLinesPerPage: 200,
  /** How long after the end of a run, or of a job, its log stays open for lines that are on their way. */
  lastLinesMs: 500,
  /** Followers that are sent new events in one turn of the event loop: each takes about 30 µs. */
  maxWokenPerTurn: 128,
  /** Subscriptions of one WebSocket. */
  maxSubscriptions: 100,
  maxMessageBytes: 16_384,
  maxWaitingMessages: 1_000,
  maxUnsentBytes: 1_000_000,
} as const;

/** Definitions received by HTTP; files of the project have the limits of the language. */
export const UPLOAD_LIMITS = {
  maxNodes: DEFINITION_LIMITS.maxDynamicNodes,
  /** Members of `needs` and `edges`, cases and their targets. */
  maxEdges: DEFINITION_LIMITS.maxDynamicEdges,
  /** The definition as JSON; text in `source` has its own limit in the contract. */
  maxDefinitionChars: 1024 * 1024,
} as const;

/** Actions that workers announce. */
export const ANNOUNCEMENT_LIMITS = {
  /** One action, as JSON. */
  maxActionChars: 256 * 1024,
  /** Actions of one project, with their versions. */
  maxActions: 2_000,
} as const;

/** Records of one project. */
export const PROJECT_LIMITS = {
  maxLaunchPlans: 2_000,
  /** Includes the schedules of triggers. */
  maxSchedules: 2_000,
} as const;

/** Drafts of workflows. */
export const DRAFT_LIMITS = {
  /** Of one user, in all projects. */
  maxDrafts: 200,
  /** Since it was saved last. */
  keptMs: 30 * 86_400_000,
} as const;

/** Checking definitions. */
export const CHECK_LIMITS = {
  /**
   * Larger definitions are checked in a thread: this many characters take about 15 ms of CPU time, and more as YAML.
   */
  inProcessChars: 16 * 1024,
  /** The limit for text: YAML beyond the plain subset takes up to 4 µs for each character. */
  inProcessTextChars: 4 * 1024,
  /** Regular expressions of a definition that is checked in process, as instructions: about 10 ms. */
  inProcessInstructions: 4_000,
  /** CPU time of the thread for one definition. */
  maxMs: 20_000,
  maxMemoryMb: 512,
  /** Large definitions that wait for the thread. */
  maxWaiting: 64,
  /** How long an idle thread stays. */
  idleMs: 10_000,
} as const;

/** Test runs and rehearsals. */
export const TEST_LIMITS = {
  /** All pins of a test run, as JSON. */
  maxPinChars: 1024 * 1024,
  /** An output in a list of outputs. */
  maxPreviewChars: 16 * 1024,
  /** A value in a rehearsal. */
  maxValueChars: 4_096,
  maxRehearsalMs: 10_000,
  /** Rehearsals at the same time. */
  maxRehearsals: 2,
} as const;

/** Notifications of projects. */
export const NOTIFICATION_LIMITS = {
  /** Of one project. */
  maxNotifications: 100,
  /** An answer of a receiver. */
  timeoutMs: 10_000,
  /** Messages that are sent at the same time. */
  maxDeliveries: 16,
  maxDeliveriesOfProject: 4,
  /** The pauses after failed attempts: doubled from the first up to the longest. */
  firstPauseMs: 10_000,
  maxPauseMs: 3_600_000,
  minGatherMs: 1_000,
  maxGatherMs: 86_400_000,
  /** Of one mail. */
  maxRecipients: 20,
  /** The output of a command, of each stream. */
  maxOutputBytes: 16_384,
  /** A run without progress for this time is stuck. */
  stuckAfterMs: 900_000,
  minStuckAfterMs: 60_000,
  maxStuckAfterMs: 30 * 86_400_000,
  /** Stuck runs that one notification remembers; others are told when some of these move. */
  maxStuckRuns: 100,
} as const;

/** Backups over HTTP; one is made at a time. */
export const BACKUP_LIMITS = {
  /** Over all processes that use the data folder: a lock on a file. */
  maxBackups: 1,
  /** A caller that takes nothing for this time loses its download. */
  maxStallMs: 60_000,
} as const;

export const HUMAN_TASK_LIMITS = {
  /** Projects of one list. */
  maxProjects: 100,
};

export const STATISTICS_LIMITS = {
  maxBuckets: 500,
  minBucketMs: 1_000,
};

export const ITERATION_LIMITS = {
  /** Iterations in the indexes of all loops: about 100 bytes each. */
  maxIndexedIterations: 300_000,
  /** Items that are read from a blob for their previews. */
  maxReadItemsBytes: 1024 * 1024,
  maxPreviewChars: 200,
};

export const READ_LIMITS = {
  /** The event loop runs after so many characters of a journal: a few milliseconds. An entry may have 64 KiB. */
  maxCharsUnpaused: 128 * 1024,
};

/** Every kind of fault, declared once: how often it strikes where it can, and what it is. */

interface Fault {
  readonly oneIn: number;
  readonly is: string;
}

/** Faults of remote workers, and between them and the engines. */
const WORKER_FAULTS = {
  'worker dies': { oneIn: 8, is: 'a remote worker dies with all that it has' },
  'worker stalls': { oneIn: 4, is: 'it is silent for twice its lease, and goes on as if nothing had been' },
  'question lost': { oneIn: 6, is: 'what it asks or tells does not arrive' },
  'question delayed': { oneIn: 8, is: 'it arrives late, perhaps after the lease' },
  'reply lost': { oneIn: 6, is: 'it is acted on, and the worker does not hear of it' },
  'reply delayed': { oneIn: 8, is: 'the worker hears of it late, perhaps after the lease' },
  'outcome repeated': { oneIn: 3, is: 'it tells what became of an attempt twice at once' },
} as const satisfies Record<string, Fault>;

export const FAULTS = {
  'crash before': { oneIn: 900, is: 'a process dies before a call, or a callback, takes effect' },
  'crash after': { oneIn: 900, is: 'a process dies when it has taken effect, before it hears of it' },
  close: { oneIn: 20, is: 'a process is asked to stop, and does so in its own time' },
  pause: { oneIn: 900, is: 'a process stands still for up to a minute and goes on as if nothing had been' },
  'clock forward': { oneIn: 1_000, is: 'the clock of one process jumps ahead' },
  'clock back': { oneIn: 1_000, is: 'the clock of one process jumps back' },
  'lease stolen': { oneIn: 15, is: 'the lease of a living worker runs out, and another one reaps it' },
  'append refused': { oneIn: 40, is: 'the store takes nothing' },
  'append delayed': { oneIn: 8, is: 'others come first' },
  'append conflict': { oneIn: 30, is: 'the store says that somebody else wrote' },
  'answer lost': { oneIn: 40, is: 'the frame is written, and its writer told that it failed' },
  'answer delayed': { oneIn: 12, is: 'the frame is written, and its writer hears of it later' },
  'call refused': { oneIn: 60, is: 'any other call of the store fails' },
  'call delayed': { oneIn: 30, is: 'any other call of the store takes its time' },
  'hint lost': { oneIn: 10, is: 'nobody is told that somebody wrote, or that there is work' },
  'hint repeated': { oneIn: 20, is: 'it is told twice' },
  'request repeated': { oneIn: 4, is: 'what a person asks for arrives twice' },
  'delivery lost': { oneIn: 12, is: 'the shared queue forgets a task' },
  'delivery repeated': { oneIn: 8, is: 'a task is handed out twice' },
  'delivery delayed': { oneIn: 8, is: 'a task is handed out late' },
  'delivery reordered': { oneIn: 6, is: 'a task overtakes others' },
  'blob refused': { oneIn: 8, is: 'a large value can be neither stored nor read' },
  'blob delayed': { oneIn: 5, is: 'it takes its time' },
  hang: { oneIn: 14, is: 'an action does not end before it is aborted' },
  'ignores abort': { oneIn: 8, is: 'an action does not listen when it is aborted' },
  ...WORKER_FAULTS,
} as const satisfies Record<string, Fault>;

export type FaultKind = keyof typeof FAULTS;
export const FAULT_KINDS = Object.keys(FAULTS) as FaultKind[];
const WORKER_FAULT_KINDS = Object.keys(WORKER_FAULTS) as (keyof typeof WORKER_FAULTS)[];

/** Faults of writes, calls and processes, by their effect. Entries of every kind meet each family. */
export const FAULT_FAMILIES = {
  'a process dies': ['crash before', 'crash after', 'close'],
  'a process is late, or its clock is wrong': ['pause', 'clock forward', 'clock back', 'lease stolen'],
  'a write fails, or seems to': ['append refused', 'append conflict', 'answer lost'],
  'a write is late': ['append delayed', 'answer delayed'],
  'a call fails or is late': ['call refused', 'call delayed'],
} as const satisfies Record<string, readonly FaultKind[]>;

/** Faults of attempts: the outcomes of nodes meet each of them. */
export const ATTEMPT_FAULT_KINDS: readonly FaultKind[] = ['hang', 'ignores abort', ...WORKER_FAULT_KINDS];
/** Faults of the shared queue: the starts of attempts meet each of them. */
export const DELIVERY_FAULT_KINDS = FAULT_KINDS.filter((kind) => kind.startsWith('delivery'));

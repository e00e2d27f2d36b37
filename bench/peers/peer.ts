/** The interface of the harness to a workflow engine. */

export const STEPS = 10;
export const FAN_OUT = 1_000;
export const WIDTH = 50;

export const WORKLOADS = ['W1', 'W2', 'W3'] as const;
export type Workload = (typeof WORKLOADS)[number];

export interface Peer {
  /** One run of a chain of `STEPS` empty steps, from its start until its end is durable. */
  chain(): Promise<void>;
  /** Many of them, `WIDTH` at a time; only for a peer that holds runs back itself, else the harness does it. */
  chains?(total: number): Promise<void>;
  /** One run with `FAN_OUT` parallel empty steps and a join. */
  fanOut(): Promise<void>;
  close(): Promise<void>;
}

/** The private server of a peer. */
export interface Server {
  readonly pid: number;
  readonly url: string;
  /** The URL for registering services, if it is a different one. */
  readonly adminUrl?: string;
}

export interface Adapter {
  openPeer(server: Server | null): Promise<Peer>;
}

/** Every workload that was run has its figures. */
export interface Figures {
  readonly stepsPerSecond?: number;
  readonly cpuMsPerRun?: number;
  readonly p50MsPerStep?: number;
  readonly p99MsPerStep?: number;
  readonly fanOutMs?: number;
}

/** A server that a peer cannot do without. */
export function needed(server: Server | null): Server {
  if (server === null) throw new Error('this peer needs its server');
  return server;
}

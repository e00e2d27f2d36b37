/** Connections that the server itself makes to addresses of users, and programs of the operator that it runs. */
import type { Socket } from 'node:net';
import type { ShellResult } from '@nebula/core';

interface OutgoingLimits {
  /** Entries of a grant: the hosts and addresses that may be reached. */
  readonly network: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface OutgoingRequest extends OutgoingLimits {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface OutgoingConnection extends OutgoingLimits {
  /** A name or an address; IPv6 in brackets. */
  readonly host: string;
  readonly port: number;
}

/** No shell reads the arguments. */
export interface HostProgram {
  /** A name on the PATH of this process, or a path relative to `cwd`. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string | undefined;
  /** Of each stream; the rest is dropped. */
  readonly maxOutputBytes: number;
  /** Ends the program and its children. */
  readonly signal: AbortSignal;
}

/** Rejects with `CAPABILITY_DENIED` if the grant does not cover the host, or the address behind it. */
export interface Outgoing {
  /** Sends a POST and resolves to the status. Redirects are not followed. */
  post(request: OutgoingRequest): Promise<number>;
  /**
   * Resolves to an open connection without TLS, which the caller closes. It is destroyed when the time is over, or by
   * the signal.
   */
  connect(connection: OutgoingConnection): Promise<Socket>;
  /** Runs a program of the operator. Rejects with `PROGRAM_NOT_FOUND`. */
  run(program: HostProgram): Promise<ShellResult>;
}

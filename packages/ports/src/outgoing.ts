/** Requests that the server itself makes, to addresses that users of a project have chosen. */
export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Entries of a grant: the hosts and addresses that may be reached. */
  readonly network: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Outgoing {
  /**
   * Sends a POST and resolves to the status. Redirects are not followed. Rejects with `CAPABILITY_DENIED` if the grant
   * does not cover the host, or the address behind it.
   */
  post(request: OutgoingRequest): Promise<number>;
}

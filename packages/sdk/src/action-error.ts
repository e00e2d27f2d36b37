/** The error that an action throws on purpose: it says what happened, and whose budget a retry is charged to. */
import type { ErrorKind, NebulaErrorOptions } from '@nebula/core';
import { NebulaError } from '@nebula/core/authoring';

export interface ActionErrorOptions extends Pick<NebulaErrorOptions, 'cause' | 'details' | 'hint'> {
  /** What error edges, matchers and `retry.on` look at, e.g. `CARD_DECLINED`. */
  readonly code?: string;
  /** USER (the default): the work itself failed. SYSTEM: the world around it did, and a retry may well succeed. */
  readonly kind?: ErrorKind;
}

export class ActionError extends NebulaError {
  /** Sandboxes know the class by this field and not by its identity: two copies of the SDK may be installed. */
  readonly kind: ErrorKind;

  constructor(message: string, options: ActionErrorOptions = {}) {
    const kind = options.kind ?? 'USER';
    super(options.code ?? 'ACTION_FAILED', message, { ...options, retryable: kind === 'SYSTEM' });
    this.name = 'ActionError';
    this.kind = kind;
  }
}

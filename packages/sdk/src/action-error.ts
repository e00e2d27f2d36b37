/** The error that an action throws deliberately: message, code, and whether the work or its environment failed. */
import type { ErrorKind, NebulaErrorOptions } from '@nebula/core';
import { NebulaError } from '@nebula/core/authoring';

export interface ActionErrorOptions extends Pick<NebulaErrorOptions, 'cause' | 'details' | 'hint'> {
  /** Matched by error edges, matchers and `retry.on`, e.g. `CARD_DECLINED`. */
  readonly code?: string;
  /** USER (default): the work itself failed. SYSTEM: its environment failed, and a retry may succeed. */
  readonly kind?: ErrorKind;
  /** The parameter that the error is about: a key of `with`, or the path to a value inside. Reports show its line. */
  readonly parameter?: string | readonly (string | number)[];
}

export class ActionError extends NebulaError {
  /** Sandboxes recognise the class by this field and not by identity: two copies of the SDK may be installed. */
  readonly kind: ErrorKind;
  readonly parameter: ActionErrorOptions['parameter'];

  constructor(message: string, options: ActionErrorOptions = {}) {
    const kind = options.kind ?? 'USER';
    super(options.code ?? 'ACTION_FAILED', message, { ...options, retryable: kind === 'SYSTEM' });
    this.name = 'ActionError';
    this.kind = kind;
    this.parameter = options.parameter;
  }
}

/**
 * Callback URLs in the inputs of attempts.
 *
 *  1 Expressions give unsigned URLs, so journals, documents, events and cached outputs contain no others.
 *  2 An attempt is given its input with signed URLs, in this process or on a remote worker. All attempts of a node get
 *    the same ones.
 *  3 Only URLs of the run itself and of the runs above it are signed: a URL that was copied into another run stays
 *    unsigned.
 *  4 Every text that leaves an attempt of such a run is unsigned again, and so is every text that leaves an action
 *    which reaches out: the other side may list the URLs that it was given.
 */
import {
  type Action,
  type CallbackToken,
  type ExecutionId,
  type Json,
  mapTexts,
  replaceTokens,
  UNSIGNED,
} from '@nebula/core';
import type { RunState } from '@nebula/core/run';
import type { Callbacks } from '../api.ts';

/** The signatures in one text that are checked; further ones are replaced unchecked. */
const MAX_CHECKED = 1_000;

/** The input that an attempt gets in place of its journalled one, and the function that conceals its texts. */
export interface HandedInput {
  readonly input: Json;
  /** The signatures in it. */
  readonly secrets: readonly string[];
  readonly conceal: (text: string) => string;
  /** Some URLs stay unsigned: they belong to another run, or were changed. */
  readonly hasUnsigned: boolean;
}

export const STAYS_UNSIGNED =
  'A callback URL in the input stays unsigned, so calls to it are rejected: it belongs to another run, or was changed.';

export class CallbackSigner {
  private readonly callbacks: Callbacks | undefined;

  constructor(callbacks: Callbacks | undefined) {
    this.callbacks = callbacks;
  }

  /** Whether inputs of the run may have URLs to sign. */
  signs({ plan, parent }: RunState): boolean {
    return this.callbacks !== undefined && (plan.awaitsCalls || parent !== null);
  }

  /** Undefined: the input is handed over as it is, and nothing has to be concealed. */
  handOver(state: RunState, action: Action, input: Json): HandedInput | undefined {
    const { callbacks, conceal } = this;
    if (callbacks === undefined) return undefined;
    if (this.signs(state)) return { ...signedInput(callbacks, state, input), conceal };
    const reachesOut = action.isRemote || (action.capabilities?.length ?? 0) > 0;
    return reachesOut ? { input, secrets: [], conceal, hasUnsigned: false } : undefined;
  }

  /** The text with signed URLs of this server unsigned. */
  private readonly conceal = (text: string): string => {
    let checked = 0;
    return replaceTokens(text, 'signed', (token) =>
      ++checked > MAX_CHECKED ? `${UNSIGNED}unchecked` : this.callbacks?.unsign(token),
    );
  };
}

function signedInput(callbacks: Callbacks, state: RunState, input: Json): Omit<HandedInput, 'conceal'> {
  const runs = runsAbove(state);
  const secrets = new Set<string>();
  let hasUnsigned = false;
  const sign = (token: CallbackToken): string | undefined => {
    const call = callbacks.sign(token);
    if (call === undefined || !runs.has(call.executionId)) {
      hasUnsigned = true;
      return undefined;
    }
    secrets.add(call.signature);
    return call.signature;
  };
  const signText = (text: string): string => (text.includes(UNSIGNED) ? replaceTokens(text, 'unsigned', sign) : text);
  return { input: mapTexts(input, signText), secrets: [...secrets], hasUnsigned };
}

function runsAbove({ executionId, parent }: RunState): ReadonlySet<ExecutionId> {
  return new Set([executionId, ...(parent === null ? [] : [parent.executionId, ...(parent.above ?? [])])]);
}

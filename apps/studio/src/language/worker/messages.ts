/** Messages between the page and the worker that has the core. */

import type { ActionInfo } from '../catalog.ts';
import type { KnownWorkflows, TextCheck } from '../checking.ts';
import type { Completion } from '../completion.ts';
import type { ExpressionPreview, Hover } from '../hovering.ts';
import type { RunValues } from '../run-values.ts';

/** What the worker knows besides the text. A part that is not given stays as it is. */
export interface LanguageSetting {
  readonly actions?: readonly ActionInfo[];
  readonly workflows?: KnownWorkflows;
  readonly workflowIds?: readonly string[];
  readonly run?: RunValues | null;
}

export type LanguageRequest =
  | { readonly kind: 'check'; readonly text: string }
  | { readonly kind: 'complete'; readonly text: string; readonly offset: number }
  | { readonly kind: 'hover'; readonly text: string; readonly offset: number }
  | { readonly kind: 'preview'; readonly text: string };

/** The answer to each kind of request. */
export interface LanguageAnswers {
  readonly check: TextCheck;
  readonly complete: Completion | null;
  readonly hover: Hover | null;
  readonly preview: readonly ExpressionPreview[];
}

export type ToWorker =
  | { readonly type: 'setting'; readonly setting: LanguageSetting }
  | { readonly type: 'request'; readonly id: number; readonly request: LanguageRequest }
  /** The answer is no longer wanted. */
  | { readonly type: 'cancel'; readonly id: number };

export type FromWorker =
  | { readonly type: 'answer'; readonly id: number; readonly answer: LanguageAnswers[keyof LanguageAnswers] }
  | { readonly type: 'failure'; readonly id: number; readonly message: string };

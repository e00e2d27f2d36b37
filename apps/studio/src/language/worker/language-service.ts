/**
 * The worker's side without the worker: messages in, messages out.
 *
 *  1 Requests are answered in order, one per task, so that a cancellation that came meanwhile is seen.
 *  2 A cancelled request that was not begun is dropped without an answer.
 *  3 A setting applies to every request that is begun after it.
 */
import { type Catalog, isJsonObject, type Json, readSource } from '@nebula/core';
import { catalogOf } from '../catalog.ts';
import { checkText } from '../checking.ts';
import { completeAt, type LanguageFacts } from '../completion.ts';
import { hoverAt, previewsOf } from '../hovering.ts';
import type { FromWorker, LanguageAnswers, LanguageRequest, LanguageSetting, ToWorker } from './messages.ts';

export class LanguageService {
  readonly #send: (message: FromWorker) => void;
  readonly #later: (task: () => void) => void;
  readonly #waiting = new Map<number, LanguageRequest>();
  #setting: LanguageSetting = {};
  #catalog: Catalog = catalogOf([]);
  #data: Json = {};
  #isBusy = false;

  /** `later` runs a task after the messages that have arrived. */
  constructor(send: (message: FromWorker) => void, later: (task: () => void) => void) {
    this.#send = send;
    this.#later = later;
  }

  receive(message: ToWorker): void {
    if (message.type === 'setting') {
      this.#setting = { ...this.#setting, ...message.setting };
      if (message.setting.actions !== undefined) this.#catalog = catalogOf(message.setting.actions);
    } else if (message.type === 'cancel') {
      this.#waiting.delete(message.id);
    } else {
      this.#waiting.set(message.id, message.request);
      if (this.#isBusy) return;
      this.#isBusy = true;
      this.#later(() => this.#next());
    }
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#isBusy = false;
      return;
    }
    const [id, request] = first;
    this.#waiting.delete(id);
    try {
      this.#send({ type: 'answer', id, answer: this.#answer(request) });
    } catch (error) {
      this.#send({ type: 'failure', id, message: error instanceof Error ? error.message : String(error) });
    }
    this.#later(() => this.#next());
  }

  #answer(request: LanguageRequest): LanguageAnswers[keyof LanguageAnswers] {
    switch (request.kind) {
      case 'check': {
        const data = readSource(request.text).value;
        if (isJsonObject(data)) this.#data = data;
        return checkText(request.text, this.#catalog, this.#setting.workflows);
      }
      case 'complete':
        return completeAt(request.text, request.offset, this.#facts()) ?? null;
      case 'hover':
        return hoverAt(request.text, request.offset, this.#facts()) ?? null;
      case 'preview':
        return this.#setting.run ? previewsOf(request.text, this.#setting.run) : [];
    }
  }

  #facts(): LanguageFacts {
    const { actions = [], workflowIds = [], run } = this.#setting;
    return { data: this.#data, actions, workflowIds, ...(run && { run }) };
  }
}

/** The script of the worker: the core reads and checks definitions here, beside the page. */
import { LanguageService } from './language-service.ts';
import type { ToWorker } from './messages.ts';

const service = new LanguageService(
  (message) => postMessage(message),
  // A timer lets the messages that have arrived come first.
  (task) => setTimeout(task, 0),
);

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => service.receive(data));

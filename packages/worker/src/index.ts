export { createWorker, type Worker, type WorkerEvent, type WorkerOptions } from './worker.ts';

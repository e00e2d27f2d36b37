/** The page of `pictures.ts`: a graph that is set from outside. */
import { NebulaGraphElement } from '@nebula/canvas';

NebulaGraphElement.workerUrl = '/layout-worker.js';

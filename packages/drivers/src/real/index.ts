export { realClock } from './clock.ts';
export { sha256 } from './digest.ts';
export { realRandom } from './random.ts';

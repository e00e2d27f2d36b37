export { realClock } from './clock.ts';
export { realRandom } from './random.ts';
export { sha256 } from './digest.ts';

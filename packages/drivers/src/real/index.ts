export { realClock } from './clock.ts';
export { realRandom, sha256 } from './random.ts';

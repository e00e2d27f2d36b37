export { environmentSecrets } from './environment.ts';
export { memorySecrets } from './memory.ts';
export { type RememberingSecrets, rememberingSecrets } from './remembering.ts';
export { type SealedSecretsOptions, sealedSecrets } from './sealed.ts';

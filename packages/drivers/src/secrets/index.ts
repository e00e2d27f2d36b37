export { environmentSecrets } from './environment.ts';
export { memorySecrets, type RememberingSecrets, rememberingSecrets } from './memory.ts';
export { type SealedSecretsOptions, sealedSecrets } from './sealed.ts';

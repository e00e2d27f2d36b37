export { ActionError, type ActionErrorOptions } from './action-error.ts';
export { type DriverContext, type DriverOpeners, defineConfig, type NebulaConfig } from './config.ts';
export { type ActionDefinition, defineAction, type InputOf, type OutputOf, type TypedAction } from './define-action.ts';
export { jsonSchema, type TypedSchema } from './json-schema.ts';
export type { StandardSchema } from './standard-schema.ts';

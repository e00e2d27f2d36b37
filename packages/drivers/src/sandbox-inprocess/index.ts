export { loadHostApi } from './attempt.ts';
export { SANDBOX_LIMITS } from './limits.ts';
export { createInProcessSandbox, type InProcessSandboxOptions } from './sandbox.ts';
export { stackOf } from './stack.ts';

import { createHash } from 'node:crypto';
import type { Digest } from '@nebula/ports';

export const sha256: Digest = (data) => createHash('sha256').update(data).digest('hex');

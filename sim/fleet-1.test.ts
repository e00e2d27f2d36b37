import { it } from 'vitest';
import { expectHalf } from './fleet.ts';

it('[SIM-1, SIM-2, SIM-3, SIM-20, ENG-62] lives 1 to 1,000 lose nothing, repeat no completed work, and come to rest', async () => {
  await expectHalf(0);
}, 900_000);

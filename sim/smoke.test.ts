/** A few lives, for `npm test -- --quick`. */
import { expect, it } from 'vitest';
import { liveMany } from './lives.ts';

it('[SIM-1] lives 1 to 40 lose nothing, repeat no completed work, and come to rest', async () => {
  const { failures } = await liveMany(1, 40);
  expect(failures).toEqual([]);
});

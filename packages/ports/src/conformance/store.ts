/** The contract of the store, by the rules of SPEC.md. */
import { describe } from 'vitest';
import { appendTests } from './store-append.ts';
import { inboxTests } from './store-inbox.ts';
import { listTests } from './store-lists.ts';
import { permitTests } from './store-permits.ts';
import { readTests } from './store-read.ts';
import { sharedTests } from './store-shared.ts';
import { type OpenStore, storeTests } from './store-subject.ts';

export function storeSuite(name: string, open: OpenStore): void {
  describe(`store contract: ${name}`, () => {
    const storeTest = storeTests(open);
    appendTests(storeTest);
    readTests(storeTest);
    listTests(storeTest);
    inboxTests(storeTest);
    sharedTests(storeTest);
    permitTests(storeTest);
  });
}

/** Copies the database on a thread of its own: that takes seconds, and waits for the disk. */
import { copyInto } from './copy.ts';
import { serveCalls } from './serve-calls.ts';

serveCalls((connection) => (_, args) => ({ result: copyInto(connection, args[0] as string), commitMs: 0 }));

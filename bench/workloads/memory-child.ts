/** Prints the memory of an idle engine, and of the same one after W1. */
import { setTimeout as pause } from 'node:timers/promises';
import { megabytes, residentBytes } from '../measure.ts';
import { chain, openSession, repeat } from '../session.ts';

const session = await openSession();
await pause(500);
const idleMb = megabytes(residentBytes());
const run = await session.workflow(chain(10));
for (let at = 0; at < 5; at++) await repeat(run, 1_000, 50);
await pause(500);
const afterMb = megabytes(residentBytes());
const heapMb = megabytes(process.memoryUsage().heapUsed);
await session.close();
process.stdout.write(JSON.stringify({ idleMb, afterMb, heapMb }));

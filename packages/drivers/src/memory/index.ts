export { memoryBlobs } from './blobs.ts';
export { type VirtualClock, virtualClock } from './clock.ts';
export { type MemoryData, memoryData } from './data.ts';
export { localLeader } from './leader.ts';
export { memoryLogs } from './logs.ts';
export { type MemoryQueueOptions, memoryQueue } from './queue.ts';
export { seededRandom } from './random.ts';
export {
  type MemoryRecordsData,
  type MemoryRecordsOptions,
  memoryRecords,
  memoryRecordsData,
} from './records.ts';
export { type MemoryStoreOptions, memoryStore } from './store.ts';

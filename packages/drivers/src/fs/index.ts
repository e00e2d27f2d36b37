export { type FsBlobsOptions, fsBlobs } from './blobs.ts';
export { syncFolder } from './durable.ts';

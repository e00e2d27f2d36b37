export { type FsBlobsOptions, fsBlobs } from './blobs.ts';

export { folderBackups } from './create.ts';
export { blobName, extractBackup } from './extract.ts';
export { DATABASE, type Manifest } from './manifest.ts';

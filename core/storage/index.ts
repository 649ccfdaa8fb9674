/** Blobs under keys; today on a local disk. What an object means, and who may read it, is for its owner to know. */
export { type DiskStorage, openDiskStorage } from './disk.ts'
export { createPictures, readPicture, storageConfig } from './pictures.ts'
export * from './storage.ts'

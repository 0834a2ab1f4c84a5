/** What the package `@fermata/machine` offers: machines on threads, images, snapshots as sealed containers, and values. */

export { type ChildHostOptions, createChildHost } from './hosts/child-host.ts';
export { type JailMode, jailObstacle } from './hosts/jail.ts';
export { createThreadHost, type ThreadHostOptions } from './hosts/thread-host.ts';
export { type SourceMapping, type StrippedSource, stripTypes, withoutFence } from './quickjs/typescript.ts';
export { SNAPSHOT_FORMAT } from './wasm/container.ts';
export { Image } from './wasm/image.ts';
export type { ImageManifest } from './wasm/image-manifest.ts';
export {
  defaultCacheDir,
  IMAGE_NAMES,
  type ImageCheck,
  imageFolder,
  librariesOf,
  loadImage,
  readManifest,
  verifyCached,
  verifyImage,
} from './wasm/image-store.ts';
export { Machine } from './wasm/machine.ts';
export { decodeValue, encodeValue, MAX_CARRIER_DEPTH } from './wasm/value-codec.ts';

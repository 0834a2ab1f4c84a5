/** What an image says of itself: its parts with their digests, and how a machine of it is set up. */
import { z } from 'zod';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

export const imageManifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  languages: z.array(z.enum(['python', 'javascript', 'typescript'])),
  sources: z.array(z.object({ package: z.string(), version: z.string(), file: z.string(), sha256, licence: z.string() })),
  wasm: z.object({ file: z.string(), sha256, bytes: z.number() }),
  /** Read-only files that the guest sees, at these paths. */
  files: z.array(z.object({ path: z.string(), file: z.string(), sha256 })),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  base: z.object({ sha256, bytes: z.number() }),
  /** Nanoseconds by which the virtual clock moves per unit of fuel. */
  nsPerFuel: z.number(),
  /** Native stack that a Worker needs for the deepest recursion of the guest. */
  stackSizeMb: z.number(),
});
export type ImageManifest = z.infer<typeof imageManifestSchema>;

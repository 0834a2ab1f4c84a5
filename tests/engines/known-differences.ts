/**
 * Tests of the engines that end otherwise in a machine than under an unpatched native build, and why. A difference that no
 * entry explains fails the suite; so does an entry that explains nothing, in a run of all modules.
 */
import type { ImageName } from '@fermata/protocol';

export interface KnownDifference {
  why: string;
  /** A fault of this project, and not of its setting: to be mended. */
  fault?: true;
  /** The test's id. Absent: any. */
  id?: string | RegExp;
  /** What the test is in the machine. */
  machine?: string;
  /** Must be found in the machine's detail: the message of the error, or the reason for the skip. */
  detail?: RegExp;
}

export const KNOWN_DIFFERENCES: Record<ImageName, KnownDifference[]> = {
  quickjs: [
    { id: /^(atomics-store-leak|bug1301|bug1302)\.js/, why: 'there is no Atomics in a machine, which has no threads' },
    { id: 'test_builtin.js:test_exception_prepare_stack', why: 'it counts frames, and the module is in one more: in a machine the suite wraps it in a function' },
    { id: 'test_builtin.js:test_date', why: 'toLocaleString is that of Intl, which a machine has and the engine alone has not: 4/7/2024, 1:00:00 AM' },
  ],
  cpython: [{ detail: /requires subprocess support/, machine: 'skipped', why: 'there are no other processes in a machine, and the test asks for them' }],
};

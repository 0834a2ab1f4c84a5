/**
 * Tests of the engines that end otherwise in a machine than under an unpatched native build, and why. A difference that no
 * entry explains fails the suite. The first entry that fits is taken.
 */
import type { ImageName } from '@fermata/protocol';
import { CPYTHON_DIFFERENCES } from './cpython-differences.ts';

export interface KnownDifference {
  why: string;
  /** Wrong on our side, and to be mended; what is not, follows from what a machine is. */
  fault?: true;
  /** The test's id. Absent: any. */
  id?: string | RegExp;
  /** What the test is natively, and in the machine. Absent: anything. */
  reference?: string;
  machine?: string;
  /** Must be found in the machine's detail: the message of the error, or the reason for the skip. */
  detail?: RegExp;
}

export const KNOWN_DIFFERENCES: Record<ImageName, readonly KnownDifference[]> = {
  quickjs: [
    { id: /^(atomics-store-leak|bug1301|bug1302)\.js/, why: 'there is no Atomics in a machine, which has no threads' },
    { id: 'test_builtin.js:test_exception_prepare_stack', why: 'it counts frames, and the module is in one more: in a machine the suite wraps it in a function' },
    { id: 'test_builtin.js:test_date', why: 'toLocaleString is that of Intl, which a machine has and the engine alone has not: 4/7/2024, 1:00:00 AM' },
  ],
  cpython: CPYTHON_DIFFERENCES,
};

/** Attacks of our own, in the form of the case bank; each says its exact outcome itself. */
import type { OwnAttack } from './attack.ts';
import { BRIDGE } from './bridge.ts';
import { FILES } from './files.ts';
import { HOGS } from './hogs.ts';
import { REACH } from './reach.ts';
import { SNAPSHOTS } from './snapshots.ts';

export const OWN_ATTACKS: readonly OwnAttack[] = [...REACH, ...FILES, ...BRIDGE, ...HOGS, ...SNAPSHOTS];

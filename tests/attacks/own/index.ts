/** Attacks of our own, in the form of the case bank; each says its exact outcome itself. */
import type { OwnAttack } from './attack.ts';

export const OWN_ATTACKS: readonly OwnAttack[] = [];

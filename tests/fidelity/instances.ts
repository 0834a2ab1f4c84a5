/** Machines one after the other. As in hosts, most have the wiped instance of one that is gone; now and then one is new altogether. */
import { type Image, Machine } from '@fermata/machine';
import type { Limits } from '@fermata/protocol';

const NEW_EVERY = 8;

const spare = new WeakMap<Image, ReturnType<Machine['retire']>>();
let made = 0;

export function freshMachine(image: Image, limits: Partial<Limits> = {}): Machine {
  const instance = made++ % NEW_EVERY === 0 ? undefined : spare.get(image);
  spare.delete(image);
  return Machine.fresh(image, limits, instance);
}

/** The machine is not used any more. */
export function giveBack(machine: Machine): void {
  spare.set(machine.image, machine.retire());
}

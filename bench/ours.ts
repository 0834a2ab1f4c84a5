/** Fermata as the rows use it: a machine without a host around it, advanced in the slices that the scheduler gives. */
import { type Image, loadImage, Machine } from '@fermata/machine';
import { type Input, imageOfLanguage, type Language, type Value } from '@fermata/protocol';

const SLICE_NS = 2e6;
const seed = new Uint8Array(32);

export interface Ours {
  image: Image;
  fresh(): Machine;
  run(machine: Machine, code: string): Value;
}

export async function openMachines(language: Language): Promise<Ours> {
  const image = await loadImage(imageOfLanguage[language]);
  const sliceFuel = Math.round(SLICE_NS / image.manifest.nsPerFuel);
  return {
    image,
    fresh: () => Machine.fresh(image),
    run(machine, code) {
      let input: Input = { kind: 'start', program: { language, code, input: undefined, tools: [] }, seed, nowMs: Date.now() };
      for (;;) {
        const outcome = machine.advance(input, sliceFuel);
        if (outcome.kind === 'done') return outcome.value;
        if (outcome.kind !== 'slice-used') throw new Error(`the program ended with ${JSON.stringify(outcome)}`);
        input = { kind: 'go' };
      }
    },
  };
}

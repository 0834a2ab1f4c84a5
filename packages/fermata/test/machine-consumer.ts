/** What a program that drives machines itself may write; `published-types.test.ts` compiles it, too. */
import { createThreadHost, type Image, loadImage, Machine } from '@fermata/machine';

const image: Image = await loadImage('quickjs');
const machine = Machine.fresh(image);
const { kind } = machine.advance({ kind: 'start', program: { language: 'javascript', code: '1' }, seed: new Uint8Array(32), nowMs: 0 }, 1e6);
console.log(kind, image.module, Machine.restore(image, machine.snapshot(), { trust: true }).fuel);
await createThreadHost().close();

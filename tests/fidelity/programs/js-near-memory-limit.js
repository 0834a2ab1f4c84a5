// Grows until memory is refused, recovers, and goes on.
const kept = [];
let refused = 0;
for (let i = 0; i < 6; i++) {
  try {
    const blocks = [];
    for (;;) blocks.push(new Uint8Array(8 * 1024 * 1024).fill(i + 1));
  } catch (error) {
    refused++;
    kept.push(error.message);
  }
}
const still = Array.from({ length: 1000 }, (_, i) => ({ i, text: `${i}`.repeat(3) }));
console.log(refused, new Set(kept).size, still.length);
return kept[0];

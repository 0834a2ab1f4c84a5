// Stops inside backtracking, sticky and global matching, replace callbacks and named groups.
const text = Array.from({ length: 40 }, (_, i) => `item-${i}: ${'ab'.repeat(i % 5)}${i * i} <${i}@x.test>`).join('\n');
const found = [...text.matchAll(/^item-(?<n>\d+): (?<letters>[ab]*)(?<square>\d+)/gm)].map(({ groups }) => `${groups.n}${groups.letters.length}${groups.square}`);
const replaced = text.replace(/<(\d+)@([^>]+)>/g, (_, n, host) => {
  let s = 0;
  for (let i = 0; i < n; i++) s += i;
  return `[${host}:${s}]`;
});
const backtrack = /^(a+)+$/.test(`${'a'.repeat(14)}!`);
const sticky = /\w+\s*/y;
const words = [];
for (let m = sticky.exec('one two  three four'); m; m = sticky.exec('one two  three four')) words.push(m[0].trim());
const unicode = '\u{1F600}x\u{1F601}'.match(/\p{Emoji_Presentation}/gu);
const lookbehind = 'price: $42, cost: €17'.match(/(?<=[$€])\d+/g);
const split = 'a1b22c333'.split(/(\d+)/);
console.log(found.join(','), backtrack, words, unicode.length, lookbehind, split);
return replaced.slice(-60);

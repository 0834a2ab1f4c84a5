function main() {
  const counts = new Map();
  let line = '';
  let lines = 0;
  for (let i = 0; i < 40000; i++) {
    const word = `w${(i * 7907) % 1009}`;
    counts.set(word, (counts.get(word) ?? 0) + 1);
    line += (line === '' ? '' : ' ') + word;
    if (line.length > 2000) {
      lines += line.split(' ').length;
      line = line.slice(-3).trim();
    }
  }
  const longest = [...counts.keys()].reduce((best, word) => (word.length > best.length ? word : best), '');
  return [lines, counts.size, longest, line.toUpperCase().slice(0, 12)];
}

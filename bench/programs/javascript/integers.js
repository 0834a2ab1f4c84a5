function main() {
  let state = 88172645;
  let odd = 0;
  for (let i = 0; i < 1500000; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    if (state & 1) odd++;
  }
  return [state, odd];
}

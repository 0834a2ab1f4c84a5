function warm(grid, size) {
  const after = grid.map((row) => row.slice());
  for (let i = 1; i < size - 1; i++) {
    const above = grid[i - 1];
    const row = grid[i];
    const below = grid[i + 1];
    const out = after[i];
    for (let j = 1; j < size - 1; j++) out[j] = row[j] + 0.125 * (above[j] + below[j] + row[j - 1] + row[j + 1] - 4 * row[j]);
  }
  return after;
}

function main() {
  const size = 40;
  let grid = [];
  for (let i = 0; i < size; i++) {
    const row = [];
    for (let j = 0; j < size; j++) row.push(((i * 31 + j * 17) % 23) + 0.5);
    grid.push(row);
  }
  for (let step = 0; step < 150; step++) grid = warm(grid, size);
  let total = 0;
  for (const row of grid) for (const value of row) total += value * value;
  return Math.round(total * 1e6) / 1e6;
}

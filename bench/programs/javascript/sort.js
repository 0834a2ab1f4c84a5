function main() {
  let seed = 3;
  const people = [];
  for (let i = 0; i < 12000; i++) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    people.push({ id: i, age: seed % 90, name: `n${seed % 4001}` });
  }
  people.sort((a, b) => a.age - b.age || (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id - b.id));
  return [people[0].id, people[6000].id, people[11999].id];
}

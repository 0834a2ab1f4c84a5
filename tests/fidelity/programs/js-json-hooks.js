// Stops inside toJSON, replacers and revivers.
class Point {
  constructor(x, y) { Object.assign(this, { x, y }); }
  toJSON() {
    let s = 0;
    for (let i = 0; i < 8; i++) s += i;
    return { point: [this.x, this.y], s };
  }
}
const data = { list: Array.from({ length: 30 }, (_, i) => new Point(i, i * i)), when: new Date(1e12), nested: { deep: { deeper: [1, [2, [3]]] } }, skip: undefined };
let visits = 0;
const text = JSON.stringify(data, (key, value) => (visits++, key === 's' ? undefined : value), 1);
const back = JSON.parse(text, (key, value) => {
  visits++;
  if (value?.point) return new Point(...value.point);
  return key === 'when' ? new Date(value) : value;
});
try {
  const cyclic = {};
  cyclic.me = cyclic;
  JSON.stringify(cyclic);
} catch (error) {
  console.log(error.name);
}
console.log(visits, text.length, back.list.length, back.list[3] instanceof Point, back.when.getTime());
return back.list.reduce((sum, p) => sum + p.y, 0);

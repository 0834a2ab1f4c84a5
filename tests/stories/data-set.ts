/** A data set with known faults in it, and the program that downloads, cleans, learns from and evaluates it. */

const ROWS = 6000;

/** As CSV. Every tenth row has a hole, every fifteenth is out of range, and every twentieth stands there twice. */
export function dataSet(): { csv: string; clean: number } {
  const lines = ['id,area,age,price'];
  let clean = 0;
  for (let id = 0; id < ROWS; id++) {
    const [area, age] = [20 + ((id * 37) % 180), (id * 13) % 60];
    const noise = ((id * 7919) % 11) - 5;
    const price = 3 * area - 2 * age + 50 + noise * 0.1;
    const hole = id % 10 === 3;
    const wild = id % 15 === 4;
    lines.push(`${id},${hole ? '' : area},${age},${wild ? -1 : price.toFixed(1)}`);
    if (id % 20 === 7) lines.push(lines.at(-1) as string);
    if (!hole && !wild) clean++;
  }
  return { csv: `${lines.join('\n')}\n`, clean };
}

/** Its result: how many rows were left, the model, and how far it is off on rows that it has not seen. */
export const PROGRAM = `
import csv, io
from fermata import step, progress, input

import requests
step('download')
text = requests.get(task_input['url']).text

step('clean')
rows, seen = [], set()
for row in csv.DictReader(io.StringIO(text)):
    if not row['area'] or float(row['price']) < 0 or row['id'] in seen:
        continue
    seen.add(row['id'])
    rows.append((float(row['area']), float(row['age']), float(row['price'])))
print('cleaned', len(rows))
tools.note(what='cleaned')

step('train')
train, test = [r for i, r in enumerate(rows) if i % 5], [r for i, r in enumerate(rows) if i % 5 == 0]
a = b = c = 0.0
rounds = input['rounds']
for n in range(rounds):
    for i, (area, age, price) in enumerate(train):
        if i % 1000 == 0:
            progress((n + i / len(train)) / rounds)
        off = a * area / 100 + b * age / 100 + c - price / 100
        a, b, c = a - 0.05 * off * area / 100, b - 0.05 * off * age / 100, c - 0.05 * off
print('trained')

step('evaluate')
off = [abs(a * area + b * age + 100 * c - price) for area, age, price in test]
tools.note(what='evaluated')
{'rows': len(rows), 'model': [a, b, 100 * c], 'off': sum(off) / len(off)}
`;

function main() {
  let rows = [];
  for (let i = 0; i < 2000; i++) rows.push({ id: i, name: `item-${(i * 37) % 501}`, tags: ['a', `t${i % 7}`] });
  let text = '';
  for (let round = 0; round < 5; round++) {
    text = JSON.stringify(rows);
    rows = JSON.parse(text);
  }
  const masked = text.replace(/"name":"item-(\d+)"/g, (_, digits) => `"name":"${digits.length}"`);
  const sevens = text.match(/"id":\d*7,/g).length;
  return [text.length, masked.length, sevens];
}

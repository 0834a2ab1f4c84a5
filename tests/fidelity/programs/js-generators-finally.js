// Stops inside generators, their finally blocks, delegated generators and early returns.
const log = [];
function* inner(n) {
  try {
    for (let i = 0; i < n; i++) {
      const sent = yield i * n;
      if (sent) log.push(`got ${sent}`);
    }
    return `end ${n}`;
  } finally {
    let spin = 0;
    for (let i = 0; i < 20; i++) spin += i;
    log.push(`finally ${n} ${spin}`);
  }
}
function* outer() {
  for (let n = 1; n <= 6; n++) log.push(yield* inner(n));
}
let count = 0;
for (const value of outer()) if (++count === 15) break;
else if (value % 7 === 6) log.push(value);
const it = inner(4);
log.push(it.next().value, it.next('x').value, JSON.stringify(it.return('early')), JSON.stringify(it.next()));
const thrown = inner(3);
thrown.next();
try {
  thrown.throw(new TypeError('into the generator'));
} catch (error) {
  log.push(error.message);
}
const [first, ...rest] = inner(5);
console.log(log.join('|'), first, rest);
return log.length;

// Class fields, statics, private methods, accessors, super in object literals, and errors with a stack that code prepares.
const made = [];
class Base {
  static #count = 0;
  static { for (let i = 0; i < 5; i++) Base.#count += i; }
  field = made.push(new.target?.name ?? 'Base');
  #secret = [...'secret'].reverse().join('');
  get secret() { return this.#secret; }
  static get count() { return Base.#count++; }
  #mix(n) { let s = ''; for (const c of this.#secret) s += String.fromCharCode(c.charCodeAt(0) + n); return s; }
  mixed() { return [0, 1, 2].map((n) => this.#mix(n)).join('/'); }
}
class Derived extends Base {
  own = this.secret.length;
  mixed() { return `<${super.mixed()}>`; }
  static [Symbol.hasInstance](value) { return value?.own > 3; }
}
const objects = Array.from({ length: 8 }, () => new Derived());
Error.prepareStackTrace = (error, frames) => {
  let n = 0;
  for (let i = 0; i < 50; i++) n += i;
  return `${error.message}:${Array.isArray(frames)}:${n}`;
};
const prepared = [];
for (let i = 0; i < 10; i++) prepared.push(new Error(`e${i}`).stack);
Error.prepareStackTrace = undefined;
const mixin = { __proto__: { hello() { return 'proto'; } }, hello() { return `own ${super.hello()}`; } };
console.log(made.length, objects[0].mixed(), Base.count, Base.count, { own: 4 } instanceof Derived, mixin.hello(), prepared.length);
return { made: made.length, mixed: objects.at(-1).mixed() };

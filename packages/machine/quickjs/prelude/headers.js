// Headers, as fetch has them: names in small letters, values of the same name joined, Set-Cookie apart.
(function (natives, shared) {
  'use strict';
  const { String, push, sortList, keys, test, trim, toLowerCase, TypeError } = shared.js;
  const iterator = Symbol.iterator;

  const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
  function nameOf(given) {
    const name = String(given);
    if (!test(NAME, name)) throw new TypeError(`Invalid header name: "${name}"`);
    return toLowerCase(name);
  }
  function valueOf(given) {
    const value = trim(String(given));
    if (test(/[\0\r\n]/, value)) throw new TypeError('A header value has a line break in it');
    return value;
  }

  class Headers {
    #pairs = [];
    constructor(init = undefined) {
      if (init === undefined || init === null) return;
      if (typeof init !== 'object') throw new TypeError('new Headers(init): an object or a list of pairs is needed');
      if (typeof init[iterator] === 'function') {
        for (const pair of init) {
          const both = [...pair];
          if (both.length !== 2) throw new TypeError('new Headers(init): each pair has a name and a value');
          this.append(both[0], both[1]);
        }
      } else {
        const names = keys(init);
        for (let i = 0; i < names.length; i++) this.append(names[i], init[names[i]]);
      }
    }
    append(name, value) {
      push(this.#pairs, [nameOf(name), valueOf(value)]);
    }
    set(name, value) {
      this.delete(name);
      this.append(name, value);
    }
    delete(name) {
      const wanted = nameOf(name);
      const kept = [];
      for (let i = 0; i < this.#pairs.length; i++) if (this.#pairs[i][0] !== wanted) push(kept, this.#pairs[i]);
      this.#pairs = kept;
    }
    get(name) {
      const wanted = nameOf(name);
      let found = null;
      for (let i = 0; i < this.#pairs.length; i++) if (this.#pairs[i][0] === wanted) found = found === null ? this.#pairs[i][1] : `${found}, ${this.#pairs[i][1]}`;
      return found;
    }
    has(name) {
      return this.get(name) !== null;
    }
    getSetCookie() {
      const found = [];
      for (let i = 0; i < this.#pairs.length; i++) if (this.#pairs[i][0] === 'set-cookie') push(found, this.#pairs[i][1]);
      return found;
    }
    forEach(callback, self = undefined) {
      for (const [name, value] of this) callback.call(self, value, name, this);
    }
    *entries() {
      const names = [];
      for (let i = 0; i < this.#pairs.length; i++) {
        const [name, value] = this.#pairs[i];
        if (name === 'set-cookie') push(names, [name, value]);
        else {
          let known = false;
          for (let j = 0; j < names.length && !known; j++) known = names[j][0] === name;
          if (!known) push(names, [name, this.get(name)]);
        }
      }
      sortList(names, (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
      for (let i = 0; i < names.length; i++) yield names[i];
    }
    *keys() {
      for (const [name] of this) yield name;
    }
    *values() {
      for (const [, value] of this) yield value;
    }
    [iterator]() {
      return this.entries();
    }
    static pairsOf(headers) {
      return headers.#pairs;
    }
  }
  shared.headerPairs = Headers.pairsOf;
  delete Headers.pairsOf;
  shared.Headers = Headers;
  shared.tag(Headers, 'Headers');
  shared.global('Headers', Headers);
})

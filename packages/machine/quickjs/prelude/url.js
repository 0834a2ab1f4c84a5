// URL and URLSearchParams over url-parse.js.
(function (natives, shared) {
  'use strict';
  const { String, push, join, split, slice, indexOf, startsWith, replace, test, toLowerCase, keys, sortList, TypeError, charCodeAt, numberText } = shared.js;
  const { parse, serialise, pathname, hostWithPort, isSpecial, setPort, parseHost, walk, encode, decode, sets } = shared.url;
  const custom = Symbol.for('nodejs.util.inspect.custom');

  const FORM_SAFE = /[A-Za-z0-9*\-._]/;
  function formEncode(text) {
    let result = '';
    for (let i = 0; i < text.length; i++) {
      if (test(FORM_SAFE, text[i])) result += text[i];
      else if (text[i] === ' ') result += '+';
      else {
        const code = charCodeAt(text, i);
        const character = code >= 0xd800 && code <= 0xdbff && i + 1 < text.length ? text[i] + text[++i] : text[i];
        result += code < 0x80 ? hex(code) : encode(character, '');
      }
    }
    return result;
  }
  const hex = (code) => `%${code < 16 ? '0' : ''}${toUpperCase(numberText(code, 16))}`;
  const toUpperCase = Function.prototype.call.bind(String.prototype.toUpperCase);
  const formDecode = (text) => decode(replace(text, /\+/g, ' '));

  function parsePairs(text) {
    const pairs = [];
    if (text === '') return pairs;
    const parts = split(text, '&');
    for (let i = 0; i < parts.length; i++) {
      if (parts[i] === '') continue;
      const equals = indexOf(parts[i], '=');
      push(pairs, equals < 0 ? [formDecode(parts[i]), ''] : [formDecode(slice(parts[i], 0, equals)), formDecode(slice(parts[i], equals + 1))]);
    }
    return pairs;
  }

  let attach;
  let reload;
  class URLSearchParams {
    #pairs = [];
    #url = null;
    constructor(init = '') {
      if (init !== null && (typeof init === 'object' || typeof init === 'function')) {
        if (typeof init[Symbol.iterator] === 'function') {
          for (const pair of init) {
            const both = [...pair];
            if (both.length !== 2) throw new TypeError('Each query pair must be an iterable [name, value] tuple');
            push(this.#pairs, [String(both[0]), String(both[1])]);
          }
        } else {
          const names = keys(init);
          for (let i = 0; i < names.length; i++) push(this.#pairs, [names[i], String(init[names[i]])]);
        }
      } else {
        const text = String(init);
        this.#pairs = parsePairs(startsWith(text, '?') ? slice(text, 1) : text);
      }
    }
    #changed() {
      this.#url?.(this.toString());
    }
    get size() {
      return this.#pairs.length;
    }
    append(name, value) {
      push(this.#pairs, [String(name), String(value)]);
      this.#changed();
    }
    delete(name, value) {
      const wanted = String(name);
      const kept = [];
      for (const pair of this.#pairs) if (pair[0] !== wanted || (value !== undefined && pair[1] !== String(value))) push(kept, pair);
      this.#pairs = kept;
      this.#changed();
    }
    get(name) {
      for (const pair of this.#pairs) if (pair[0] === String(name)) return pair[1];
      return null;
    }
    getAll(name) {
      const found = [];
      for (const pair of this.#pairs) if (pair[0] === String(name)) push(found, pair[1]);
      return found;
    }
    has(name, value) {
      for (const pair of this.#pairs) if (pair[0] === String(name) && (value === undefined || pair[1] === String(value))) return true;
      return false;
    }
    set(name, value) {
      const kept = [];
      let found = false;
      for (const pair of this.#pairs) {
        if (pair[0] !== String(name)) push(kept, pair);
        else if (!found) push(kept, [pair[0], String(value)]);
        found ||= pair[0] === String(name);
      }
      if (!found) push(kept, [String(name), String(value)]);
      this.#pairs = kept;
      this.#changed();
    }
    sort() {
      sortList(this.#pairs, (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
      this.#changed();
    }
    forEach(callback, thisValue) {
      for (const pair of this.#pairs) shared.js.apply(callback, thisValue, [pair[1], pair[0], this]);
    }
    *entries() {
      for (const pair of this.#pairs) yield [pair[0], pair[1]];
    }
    *keys() {
      for (const pair of this.#pairs) yield pair[0];
    }
    *values() {
      for (const pair of this.#pairs) yield pair[1];
    }
    toString() {
      const parts = [];
      for (const pair of this.#pairs) push(parts, `${formEncode(pair[0])}=${formEncode(pair[1])}`);
      return join(parts, '&');
    }
    [custom](depth, options, inspect) {
      if (this.#pairs.length === 0) return 'URLSearchParams {}';
      const parts = [];
      for (const pair of this.#pairs) push(parts, `${inspect(pair[0])} => ${inspect(pair[1])}`);
      return `URLSearchParams { ${join(parts, ', ')} }`;
    }
    static {
      attach = (params, update) => {
        params.#url = update;
      };
      reload = (params, query) => {
        params.#pairs = parsePairs(query ?? '');
      };
    }
  }
  shared.define(URLSearchParams.prototype, Symbol.iterator, URLSearchParams.prototype.entries);

  class URL {
    #parts;
    #params = null;
    constructor(input, base) {
      this.#parts = parse(String(input), base === undefined ? undefined : parse(String(base)));
    }
    static canParse(input, base) {
      return URL.parse(input, base) !== null;
    }
    static parse(input, base) {
      try {
        return new URL(input, base);
      } catch {
        return null;
      }
    }
    get href() {
      return serialise(this.#parts);
    }
    set href(text) {
      this.#parts = parse(String(text));
      this.#reload();
    }
    get origin() {
      return isSpecial(this.#parts.scheme) && this.#parts.scheme !== 'file:' ? `${this.#parts.scheme}//${hostWithPort(this.#parts)}` : 'null';
    }
    get protocol() {
      return this.#parts.scheme;
    }
    set protocol(text) {
      const scheme = `${toLowerCase(replace(String(text), /:.*$/, ''))}:`;
      if (test(/^[a-z][a-z0-9+.-]*:$/, scheme) && isSpecial(scheme) === isSpecial(this.#parts.scheme)) {
        this.#parts.scheme = scheme;
        if (this.#parts.port !== null) setPort(this.#parts, String(this.#parts.port), '');
      }
    }
    get username() {
      return this.#parts.username;
    }
    set username(text) {
      if (this.#parts.host) this.#parts.username = encode(String(text), sets.USER);
    }
    get password() {
      return this.#parts.password;
    }
    set password(text) {
      if (this.#parts.host) this.#parts.password = encode(String(text), sets.USER);
    }
    get host() {
      return hostWithPort(this.#parts);
    }
    set host(text) {
      const [, host, port] = /^(\[[^\]]*\]|[^:/?#\\]*)(?::([0-9]*))?/.exec(String(text));
      this.hostname = host;
      if (port) this.port = port;
    }
    get hostname() {
      return this.#parts.host ?? '';
    }
    set hostname(text) {
      if (typeof this.#parts.path === 'string' || String(text) === '') return;
      try {
        this.#parts.host = parseHost(String(text), isSpecial(this.#parts.scheme), '');
      } catch {
        // As browsers do: a host that is none changes nothing.
      }
    }
    get port() {
      return this.#parts.port === null ? '' : String(this.#parts.port);
    }
    set port(text) {
      const digits = /^[0-9]*/.exec(String(text))[0];
      if (!this.#parts.host) return;
      if (String(text) === '') this.#parts.port = null;
      else if (digits !== '' && +digits <= 65535) setPort(this.#parts, digits, '');
    }
    get pathname() {
      return pathname(this.#parts);
    }
    set pathname(text) {
      if (typeof this.#parts.path === 'string') return;
      const special = isSpecial(this.#parts.scheme);
      this.#parts.path = walk([], replace(String(text), special ? /^[/\\]/ : /^\//, ''), special);
    }
    get search() {
      return this.#parts.query ? `?${this.#parts.query}` : '';
    }
    set search(text) {
      const query = replace(String(text), /^\?/, '');
      this.#parts.query = query === '' ? null : encode(query, isSpecial(this.#parts.scheme) ? sets.SPECIAL_QUERY : sets.QUERY);
      this.#reload();
    }
    get hash() {
      return this.#parts.fragment ? `#${this.#parts.fragment}` : '';
    }
    set hash(text) {
      const fragment = replace(String(text), /^#/, '');
      this.#parts.fragment = fragment === '' ? null : encode(fragment, sets.FRAGMENT);
    }
    get searchParams() {
      if (!this.#params) {
        this.#params = new URLSearchParams(this.#parts.query ?? '');
        attach(this.#params, (query) => {
          this.#parts.query = query === '' ? null : query;
        });
      }
      return this.#params;
    }
    #reload() {
      if (this.#params) reload(this.#params, this.#parts.query);
    }
    toString() {
      return this.href;
    }
    toJSON() {
      return this.href;
    }
    [custom](depth, options, inspect) {
      const shown = {};
      for (const key of ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'searchParams', 'hash']) shown[key] = this[key];
      return `URL ${inspect(shown)}`;
    }
  }

  shared.tag(URL, 'URL');
  shared.tag(URLSearchParams, 'URLSearchParams');
  shared.global('URL', URL);
  shared.global('URLSearchParams', URLSearchParams);
})

// Intl speaks en-US. Other locales are understood as names and answered in English, which the standard allows for a
// locale without data; resolvedOptions().locale says so.
(function (natives, shared) {
  'use strict';
  const { String, test, push, isArray, RangeError, TypeError, startsWith, isNaN, Math, indexOfItem } = shared.js;

  function canonical(locale) {
    if (typeof locale !== 'string' && (typeof locale !== 'object' || locale === null)) throw new TypeError('Incorrect locale information provided');
    const tag = String(locale);
    if (!test(/^[a-zA-Z]{2,8}([-_][a-zA-Z0-9]{1,8})*$/, tag)) throw new RangeError(`Incorrect locale information provided`);
    const parts = tag.replace(/_/g, '-').split('-');
    return parts.map((part, i) => (i === 0 ? part.toLowerCase() : part.length === 2 && i < 3 ? part.toUpperCase() : part.length === 4 && i === 1 ? part[0].toUpperCase() + part.slice(1).toLowerCase() : part)).join('-');
  }
  function canonicalList(locales) {
    if (locales === undefined) return [];
    if (typeof locales === 'string') return [canonical(locales)];
    if (!isArray(locales)) return [canonical(locales)];
    const list = [];
    for (let i = 0; i < locales.length; i++) push(list, canonical(locales[i]));
    return list;
  }
  const isEnglish = (tag) => tag === 'en' || startsWith(tag, 'en-');

  // The options of Intl constructors: a fixed set of texts, or a number in a range.
  function choice(options, name, allowed, otherwise) {
    const value = options[name];
    if (value === undefined) return otherwise;
    const text = String(value);
    if (indexOfItem(allowed, text) < 0) throw new RangeError(`Value ${text} out of range for Intl options property ${name}`);
    return text;
  }
  function count(options, name, low, high, otherwise) {
    const value = options[name];
    if (value === undefined) return otherwise;
    const number = +value;
    if (isNaN(number) || number < low || number > high) throw new RangeError(`${name} value is out of range.`);
    return Math.floor(number);
  }

  // A class of Intl: `new` where it needs none too, supportedLocalesOf, its tag.
  const Intl = {};
  function publish(name, Class, callable) {
    const exposed = callable
      ? function (locales, options) {
          return new Class(locales, options);
        }
      : Class;
    if (callable) {
      shared.define(exposed, 'name', name);
      exposed.prototype = Class.prototype;
      shared.define(Class.prototype, 'constructor', exposed);
    }
    shared.define(exposed, 'supportedLocalesOf', (locales) => canonicalList(locales).filter(isEnglish));
    shared.tag(Class, `Intl.${name}`);
    shared.define(Intl, name, exposed);
  }
  shared.define(Intl, 'getCanonicalLocales', (locales) => canonicalList(locales));
  Object.defineProperty(Intl, Symbol.toStringTag, { value: 'Intl', configurable: true });
  shared.global('Intl', Intl);

  const resolve = (locales) => {
    const list = canonicalList(locales);
    return list.length > 0 && isEnglish(list[0]) && list[0] !== 'en' ? list[0] : list.length > 0 && list[0] === 'en' ? 'en' : 'en-US';
  };
  shared.intl = { resolve, choice, count, publish };
})

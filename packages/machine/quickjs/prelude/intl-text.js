// Intl.Collator, PluralRules, ListFormat, RelativeTimeFormat and Segmenter for English; localeCompare.
(function (natives, shared) {
  'use strict';
  const { String, Number, push, normalize, charCodeAt, codePointAt, toLowerCase, test, slice, includes, indexOf, Math, isFinite, RangeError, TypeError } = shared.js;
  const { resolve, choice, publish, NumberFormat, joinParts } = shared.intl;

  // The order of the Unicode root collation for ASCII; letters and digits follow.
  const ORDER = '\t\n\v\f\r _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$';
  const spelled = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', þ: 'th', ı: 'i' };
  const SPELLED = '\u0300'; // counts as an accent: "ss" before "ß"
  const isMark = (code) => code >= 0x300 && code <= 0x36f;
  const isPunctuation = (rank) => rank < ORDER.length;
  const isAscii = (text) => !test(/[^\x00-\x7f]/, text);

  function rankOf(code) {
    if (code >= 97 && code <= 122) return 200 + (code - 97);
    if (code >= 65 && code <= 90) return 200 + (code - 65);
    if (code >= 48 && code <= 57) return 100 + (code - 48);
    if (code < 128) {
      const at = indexOf(ORDER, String.fromCharCode(code));
      return at < 0 ? -1 : at; // control characters count for nothing
    }
    return 300 + code;
  }
  const isDigit = (code) => code >= 48 && code <= 57;

  // What is compared first (letters), second (accents) and third (case).
  function keysOf(text, o) {
    let plain = isAscii(text) ? text : normalize(text, 'NFD');
    if (!isAscii(text)) {
      let spelt = '';
      for (let i = 0; i < plain.length; i++) {
        const small = toLowerCase(plain[i]);
        spelt += spelled[small] ? (small === plain[i] ? spelled[small] : spelled[small].toUpperCase()) + SPELLED : plain[i];
      }
      plain = spelt;
    }
    const primary = [];
    const accents = [];
    const cases = [];
    for (let i = 0; i < plain.length; i++) {
      const code = charCodeAt(plain, i);
      if (isMark(code)) {
        accents[primary.length - 1] = (accents[primary.length - 1] ?? '') + plain[i];
        continue;
      }
      if (o.numeric && isDigit(code)) {
        while (plain[i] === '0' && isDigit(charCodeAt(plain, i + 1))) i++;
        let end = i;
        while (isDigit(charCodeAt(plain, end))) end++;
        push(primary, 150 + (end - i) / 1e6);
        for (; i < end; i++) push(primary, rankOf(charCodeAt(plain, i)));
        i--;
        continue;
      }
      const rank = rankOf(code >= 128 ? charCodeAt(toLowerCase(plain[i]), 0) : code);
      if (rank < 0 || (o.ignorePunctuation && isPunctuation(rank))) continue;
      push(primary, rank);
      cases[primary.length - 1] = (code >= 65 && code <= 90) || (code >= 128 && toLowerCase(plain[i]) !== plain[i]) ? 1 : 0;
    }
    return { primary, accents, cases };
  }

  function compare(a, b, o) {
    if (a === b) return 0;
    const [x, y] = [keysOf(a, o), keysOf(b, o)];
    const length = Math.min(x.primary.length, y.primary.length);
    for (let i = 0; i < length; i++) if (x.primary[i] !== y.primary[i]) return x.primary[i] < y.primary[i] ? -1 : 1;
    if (x.primary.length !== y.primary.length) return x.primary.length < y.primary.length ? -1 : 1;
    if (o.sensitivity === 'accent' || o.sensitivity === 'variant') {
      for (let i = 0; i < length; i++) {
        const [p, q] = [x.accents[i] ?? '', y.accents[i] ?? ''];
        if (p !== q) return p < q ? -1 : 1;
      }
    }
    if (o.sensitivity === 'case' || o.sensitivity === 'variant') {
      for (let i = 0; i < length; i++) {
        const [p, q] = [x.cases[i] ?? 0, y.cases[i] ?? 0];
        if (p !== q) return p < q === (o.caseFirst !== 'upper') ? -1 : 1;
      }
    }
    return 0;
  }

  class Collator {
    #o;
    #compare;
    constructor(locales, options = {}) {
      const given = Object(options);
      this.#o = {
        locale: resolve(locales),
        usage: choice(given, 'usage', ['sort', 'search'], 'sort'),
        sensitivity: choice(given, 'sensitivity', ['base', 'accent', 'case', 'variant'], 'variant'),
        ignorePunctuation: !!given.ignorePunctuation,
        collation: 'default',
        numeric: !!given.numeric,
        caseFirst: choice(given, 'caseFirst', ['upper', 'lower', 'false'], 'false'),
      };
    }
    get compare() {
      this.#compare ??= (a, b) => compare(String(a), String(b), this.#o);
      return this.#compare;
    }
    resolvedOptions() {
      return { ...this.#o };
    }
  }
  publish('Collator', Collator, true);
  const plain = new Collator();
  const method = {
    localeCompare(that, locales, options) {
      if (this === undefined || this === null) throw new TypeError('String.prototype.localeCompare called on null or undefined');
      return (locales === undefined && options === undefined ? plain : new Collator(locales, options)).compare(this, that);
    },
  };
  shared.define(String.prototype, 'localeCompare', method.localeCompare);

  class PluralRules {
    #o;
    #numbers;
    constructor(locales, options = {}) {
      const given = Object(options);
      this.#o = { locale: resolve(locales), type: choice(given, 'type', ['cardinal', 'ordinal'], 'cardinal') };
      const { minimumIntegerDigits, minimumFractionDigits, maximumFractionDigits, minimumSignificantDigits, maximumSignificantDigits } = given;
      this.#numbers = new NumberFormat('en', { minimumIntegerDigits, minimumFractionDigits, maximumFractionDigits, minimumSignificantDigits, maximumSignificantDigits, useGrouping: false });
    }
    select(value) {
      const shown = this.#numbers.format(Math.abs(Number(value)));
      if (this.#o.type === 'cardinal') return shown === '1' ? 'one' : 'other';
      if (includes(shown, '.')) return 'other';
      const n = Math.abs(Number(value));
      const [ten, hundred] = [n % 10, n % 100];
      return ten === 1 && hundred !== 11 ? 'one' : ten === 2 && hundred !== 12 ? 'two' : ten === 3 && hundred !== 13 ? 'few' : 'other';
    }
    resolvedOptions() {
      const digits = this.#numbers.resolvedOptions();
      return { ...this.#o, minimumIntegerDigits: digits.minimumIntegerDigits, minimumFractionDigits: digits.minimumFractionDigits, maximumFractionDigits: digits.maximumFractionDigits, pluralCategories: this.#o.type === 'cardinal' ? ['one', 'other'] : ['few', 'one', 'two', 'other'] };
    }
  }
  publish('PluralRules', PluralRules);

  class ListFormat {
    #o;
    constructor(locales, options = {}) {
      const given = Object(options);
      this.#o = { locale: resolve(locales), type: choice(given, 'type', ['conjunction', 'disjunction', 'unit'], 'conjunction'), style: choice(given, 'style', ['long', 'short', 'narrow'], 'long') };
    }
    formatToParts(list) {
      const items = [];
      for (const item of list) {
        if (typeof item !== 'string') throw new TypeError('Iterable yielded a non-String value');
        push(items, item);
      }
      const { type, style } = this.#o;
      const word = type === 'disjunction' ? 'or' : style === 'long' ? 'and' : style === 'short' ? '&' : '';
      const comma = type === 'unit' && style === 'narrow' ? ' ' : ', ';
      const last = type === 'unit' || word === '' ? comma : items.length === 2 ? ` ${word} ` : `, ${word} `;
      const parts = [];
      for (let i = 0; i < items.length; i++) {
        if (i > 0) push(parts, { type: 'literal', value: i === items.length - 1 ? last : comma });
        push(parts, { type: 'element', value: items[i] });
      }
      return parts;
    }
    format(list) {
      return joinParts(this.formatToParts(list));
    }
    resolvedOptions() {
      return { ...this.#o };
    }
  }
  publish('ListFormat', ListFormat);

  const shortUnits = { second: 'sec.', minute: 'min.', hour: 'hr.', day: 'day', week: 'wk.', month: 'mo.', quarter: 'qtr.', year: 'yr.' };
  const narrowUnits = { second: 's', minute: 'm', hour: 'h', day: 'd', week: 'w', month: 'mo', quarter: 'q', year: 'y' };
  const words = {
    day: { '-1': 'yesterday', 0: 'today', 1: 'tomorrow' }, second: { 0: 'now' }, year: { '-1': 'last year', 0: 'this year', 1: 'next year' }, quarter: { '-1': 'last quarter', 0: 'this quarter', 1: 'next quarter' },
    month: { '-1': 'last month', 0: 'this month', 1: 'next month' }, week: { '-1': 'last week', 0: 'this week', 1: 'next week' }, hour: { 0: 'this hour' }, minute: { 0: 'this minute' },
  };
  class RelativeTimeFormat {
    #o;
    #numbers = new NumberFormat('en');
    constructor(locales, options = {}) {
      const given = Object(options);
      this.#o = { locale: resolve(locales), style: choice(given, 'style', ['long', 'short', 'narrow'], 'long'), numeric: choice(given, 'numeric', ['always', 'auto'], 'always'), numberingSystem: 'latn' };
    }
    format(value, unit) {
      return joinParts(this.formatToParts(value, unit));
    }
    formatToParts(value, unit) {
      const number = Number(value);
      const name = String(unit).replace(/s$/, '');
      if (!isFinite(number)) throw new RangeError('The value of Intl.RelativeTimeFormat.format must be finite');
      if (!shortUnits[name]) throw new RangeError(`Invalid unit argument for format() '${unit}'`);
      const { style, numeric } = this.#o;
      const word = numeric === 'auto' ? words[name]?.[Object.is(number, -0) ? 0 : number] : undefined;
      if (word) return [{ type: 'literal', value: style === 'long' ? word : shorten(word, name) }];
      const past = number < 0 || Object.is(number, -0);
      const shown = this.#numbers.format(Math.abs(number));
      const label = style === 'narrow' ? narrowUnits[name] : style === 'short' ? (name === 'day' && shown !== '1' ? 'days' : name === 'quarter' && shown !== '1' ? 'qtrs.' : shortUnits[name]) : shown === '1' ? name : `${name}s`;
      const gap = style === 'narrow' ? '' : ' ';
      const amount = this.#numbers.formatToParts(Math.abs(number)).map((part) => ({ ...part, unit: name }));
      return past ? [...amount, { type: 'literal', value: `${gap}${label} ago` }] : [{ type: 'literal', value: 'in ' }, ...amount, { type: 'literal', value: `${gap}${label}` }];
    }
    resolvedOptions() {
      return { ...this.#o };
    }
  }
  const shorten = (word, unit) => word.replace(/(last|this|next) (week|month|quarter|year)/, (all, which) => `${which} ${shortUnits[unit]}`);
  publish('RelativeTimeFormat', RelativeTimeFormat);

  // Graphemes: a character with its marks, joiners, skin tones, flags and Hangul parts. Words: runs of letters or digits.
  const EXTEND = /^[\p{M}\u200d\ufe0f\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}]$/u;
  const WORD = /^[\p{L}\p{N}_'’]$/u;
  const isFlag = (point) => point >= 0x1f1e6 && point <= 0x1f1ff;
  const characterAt = (text, i) => (codePointAt(text, i) > 0xffff ? slice(text, i, i + 2) : text[i]);
  function graphemeEnd(text, start) {
    let i = start + characterAt(text, start).length;
    if (text[start] === '\r' && text[i] === '\n') return i + 1;
    if (isFlag(codePointAt(text, start)) && i < text.length && isFlag(codePointAt(text, i))) i += 2;
    while (i < text.length) {
      const next = characterAt(text, i);
      const joined = text[i - 1] === '\u200d' && test(/^\p{Extended_Pictographic}$/u, next);
      if (!joined && !test(EXTEND, next)) break;
      i += next.length;
    }
    return i;
  }
  function wordEnd(text, start) {
    let i = start;
    const inWord = test(WORD, characterAt(text, start));
    if (!inWord) return graphemeEnd(text, start);
    while (i < text.length && (test(WORD, characterAt(text, i)) || test(EXTEND, characterAt(text, i)) || test(/^\d[.,]\d/, slice(text, i - 1, i + 2)))) i += characterAt(text, i).length;
    return i;
  }
  function sentenceEnd(text, start) {
    for (let i = start; i < text.length; i++) {
      if (!includes('.!?\n', text[i])) continue;
      while (i + 1 < text.length && includes('.!?)"\'', text[i + 1])) i++;
      if (text[i] !== '\n' && i + 1 < text.length && text[i + 1] !== ' ' && text[i + 1] !== '\n') continue;
      while (i + 1 < text.length && includes(' \t\n', text[i + 1])) i++;
      return i + 1;
    }
    return text.length;
  }
  class Segmenter {
    #o;
    constructor(locales, options = {}) {
      this.#o = { locale: resolve(locales), granularity: choice(Object(options), 'granularity', ['grapheme', 'word', 'sentence'], 'grapheme') };
    }
    segment(value) {
      const input = String(value);
      const { granularity } = this.#o;
      const end = granularity === 'grapheme' ? graphemeEnd : granularity === 'word' ? wordEnd : sentenceEnd;
      const at = (index, stop) => {
        const piece = { segment: slice(input, index, stop), index, input };
        if (granularity === 'word') piece.isWordLike = test(WORD, characterAt(input, index));
        return piece;
      };
      return {
        containing(position = 0) {
          for (let i = 0; i < input.length; ) {
            const stop = end(input, i);
            if (position < stop) return at(i, stop);
            i = stop;
          }
          return undefined;
        },
        *[Symbol.iterator]() {
          for (let i = 0; i < input.length; ) {
            const stop = end(input, i);
            yield at(i, stop);
            i = stop;
          }
        },
      };
    }
    resolvedOptions() {
      return { ...this.#o };
    }
  }
  publish('Segmenter', Segmenter);
})

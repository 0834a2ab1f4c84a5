// Intl.NumberFormat for English: decimal, percent, currency, unit; standard, compact, scientific and engineering.
(function (natives, shared) {
  'use strict';
  const { String, Number, push, slice, repeat, padStart, padEnd, test, exec, replace, indexOfItem, Math, isNaN, TypeError, RangeError, trim } = shared.js;
  const { resolve, choice, count, publish } = shared.intl;

  const symbols = { USD: '$', EUR: '€', GBP: '£', JPY: '¥', INR: '₹', CNY: 'CN¥', KRW: '₩', BRL: 'R$', CAD: 'CA$', AUD: 'A$', MXN: 'MX$', NZD: 'NZ$', HKD: 'HK$', TWD: 'NT$', ILS: '₪', VND: '₫', PHP: '₱', XAF: 'FCFA', XOF: 'F\u202fCFA', XPF: 'CFPF', XCD: 'EC$' };
  const narrow = { CAD: '$', AUD: '$', MXN: '$', NZD: '$', HKD: '$', TWD: '$', CNY: '¥', RUB: '₽', TRY: '₺', UAH: '₴', PLN: 'zł', CZK: 'Kč', SEK: 'kr', NOK: 'kr', DKK: 'kr', HUF: 'Ft', NGN: '₦', THB: '฿', XCD: '$', ARS: '$', CLP: '$', COP: '$', SGD: '$', EGP: 'E£', ZAR: 'R', KZT: '₸' };
  const currencyNames = { USD: 'US dollar', EUR: 'euro', GBP: 'British pound', JPY: 'Japanese yen', INR: 'Indian rupee', CNY: 'Chinese yuan', KRW: 'South Korean won', BRL: 'Brazilian real', CAD: 'Canadian dollar', AUD: 'Australian dollar', CHF: 'Swiss franc', MXN: 'Mexican peso', NZD: 'New Zealand dollar', SEK: 'Swedish krona', NOK: 'Norwegian krone', DKK: 'Danish krone', PLN: 'Polish zloty', SGD: 'Singapore dollar', HKD: 'Hong Kong dollar' };
  const currencyPlurals = { JPY: 'Japanese yen', KRW: 'South Korean won', CNY: 'Chinese yuan', SEK: 'Swedish kronor', NOK: 'Norwegian kroner', DKK: 'Danish kroner', PLN: 'Polish zlotys' };
  const noCents = ['JPY', 'KRW', 'VND', 'CLP', 'XAF', 'XOF', 'XPF', 'ISK', 'UGX', 'PYG', 'RWF', 'KMF', 'GNF', 'DJF', 'BIF', 'VUV'];
  const threeDigits = ['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'];

  // [short after the number, one, many]; narrow drops the space.
  const units = {
    acre: ['ac', 'acre'], bit: ['bit', 'bit'], byte: ['byte', 'byte'], celsius: ['°C', 'degree Celsius', 'degrees Celsius'], centimeter: ['cm', 'centimeter'], day: ['day', 'day'],
    degree: ['deg', 'degree'], fahrenheit: ['°F', 'degree Fahrenheit', 'degrees Fahrenheit'], 'fluid-ounce': ['fl oz', 'fluid ounce'], foot: ['ft', 'foot', 'feet'], gallon: ['gal', 'gallon'],
    gigabit: ['Gb', 'gigabit'], gigabyte: ['GB', 'gigabyte'], gram: ['g', 'gram'], hectare: ['ha', 'hectare'], hour: ['hr', 'hour'], inch: ['in', 'inch', 'inches'], kilobit: ['kb', 'kilobit'],
    kilobyte: ['kB', 'kilobyte'], kilogram: ['kg', 'kilogram'], kilometer: ['km', 'kilometer'], liter: ['L', 'liter'], megabit: ['Mb', 'megabit'], megabyte: ['MB', 'megabyte'], meter: ['m', 'meter'],
    mile: ['mi', 'mile'], milliliter: ['mL', 'milliliter'], millimeter: ['mm', 'millimeter'], millisecond: ['ms', 'millisecond'], minute: ['min', 'minute'], month: ['mth', 'month'], ounce: ['oz', 'ounce'],
    percent: ['%', 'percent', 'percent'], petabyte: ['PB', 'petabyte'], pound: ['lb', 'pound'], second: ['sec', 'second'], stone: ['st', 'stone', 'stones'], terabit: ['Tb', 'terabit'], terabyte: ['TB', 'terabyte'],
    week: ['wk', 'week'], yard: ['yd', 'yard'], year: ['yr', 'year'], microsecond: ['μs', 'microsecond'], nanosecond: ['ns', 'nanosecond'],
    'kilometer-per-hour': ['km/h', 'kilometer per hour', 'kilometers per hour'], 'mile-per-hour': ['mph', 'mile per hour', 'miles per hour'], 'meter-per-second': ['m/s', 'meter per second', 'meters per second'],
    'mile-per-gallon': ['mpg', 'mile per gallon', 'miles per gallon'],
  };
  const shortPlural = { day: 'days', month: 'mths', week: 'wks', year: 'yrs' };
  const narrowUnit = { day: 'd', hour: 'h', minute: 'm', second: 's', week: 'w', month: 'm', year: 'y', foot: '′', inch: '″', pound: '#', byte: 'B', degree: '°', celsius: '°C', fahrenheit: '°', 'fluid-ounce': 'fl oz', liter: 'L' };
  const tight = ['percent', 'celsius', 'fahrenheit']; // no space, except in long

  // A decimal number as digits: 0.DIGITS x 10^point.
  function toDecimal(value) {
    if (typeof value === 'bigint') return fromText(String(value));
    return fromText(typeof value === 'number' ? (value === 0 && 1 / value < 0 ? '-0' : String(value)) : trim(value));
  }
  function fromText(text) {
    const [, sign, whole, fraction = '', exponent = '0'] = exec(/^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/, text);
    let digits = whole + fraction;
    let point = whole.length + Number(exponent);
    const zeros = exec(/^0*/, digits)[0].length;
    digits = slice(digits, zeros);
    point -= zeros;
    digits = replace(digits, /0+$/, '');
    return { negative: sign === '-', digits, point: digits === '' ? 0 : point };
  }

  // Keeps `keep` digits. Half away from zero, unless another way is asked for.
  function round(number, keep, mode) {
    if (keep >= number.digits.length) return number;
    const dropped = slice(number.digits, Math.max(0, keep));
    const kept = keep <= 0 ? '' : slice(number.digits, 0, keep);
    const half = keep < 0 ? -1 : dropped[0] > '5' || (dropped[0] === '5' && dropped.length > 1) ? 1 : dropped[0] === '5' ? 0 : -1;
    const odd = kept !== '' && (kept.charCodeAt(kept.length - 1) & 1) === 1;
    const up =
      mode === 'ceil' ? !number.negative : mode === 'floor' ? number.negative : mode === 'expand' ? true : mode === 'trunc' ? false
      : mode === 'halfEven' ? half > 0 || (half === 0 && odd) : mode === 'halfTrunc' ? half > 0 : mode === 'halfCeil' ? half > 0 || (half === 0 && !number.negative)
      : mode === 'halfFloor' ? half > 0 || (half === 0 && number.negative) : half >= 0;
    let digits = kept;
    let { point } = number;
    if (up) {
      if (keep < 0) {
        digits = '1';
        point = point - keep + 1;
        return { negative: number.negative, digits, point };
      }
      let i = kept.length - 1;
      while (i >= 0 && kept[i] === '9') i--;
      if (i < 0) {
        digits = '1';
        point++;
      } else {
        digits = slice(kept, 0, i) + String(+kept[i] + 1);
      }
    }
    digits = replace(digits, /0+$/, '');
    return { negative: number.negative, digits, point: digits === '' ? 0 : point };
  }

  const bySignificant = (number, o) => round(number, o.maximumSignificantDigits, o.roundingMode);
  const byFraction = (number, o) => round(number, number.point + o.maximumFractionDigits, o.roundingMode);
  function roundFor(number, o) {
    if (o.maximumSignificantDigits === undefined) return byFraction(number, o);
    if (!o.morePrecision) return bySignificant(number, o);
    // Compact: whole numbers, but at least two digits.
    return number.point >= 2 ? round(number, number.point, o.roundingMode) : round(number, 2, o.roundingMode);
  }

  function split(number, o) {
    const { digits, point } = number;
    let integer = point > 0 ? slice(padEnd(digits, point, '0'), 0, point) : '0';
    let fraction = point >= 0 ? slice(digits, point) : repeat('0', -point) + digits;
    if (digits === '') [integer, fraction] = ['0', ''];
    let least = o.minimumFractionDigits ?? 0;
    if (o.minimumSignificantDigits !== undefined && !o.morePrecision) {
      const have = (integer === '0' ? 0 : integer.length);
      least = Math.max(0, integer === '0' && digits !== '' ? -point + o.minimumSignificantDigits : o.minimumSignificantDigits - Math.max(1, have));
    }
    if (o.morePrecision) least = 0;
    return [padStart(integer, o.minimumIntegerDigits, '0'), padEnd(fraction, least, '0')];
  }

  function group(integer, o, parts) {
    const grouping = o.useGrouping;
    const enough = grouping === 'min2' ? 5 : 4;
    if (grouping === false || integer.length < enough) return push(parts, { type: 'integer', value: integer });
    const head = integer.length % 3 || 3;
    push(parts, { type: 'integer', value: slice(integer, 0, head) });
    for (let i = head; i < integer.length; i += 3) push(parts, { type: 'group', value: ',' }, { type: 'integer', value: slice(integer, i, i + 3) });
    return parts.length;
  }

  const compactShort = ['', 'K', 'M', 'B', 'T'];
  const compactLong = ['', 'thousand', 'million', 'billion', 'trillion'];

  function magnitude(number, o) {
    if (o.notation === 'standard') return [number, 0];
    const step = o.notation === 'scientific' ? 1 : 3;
    const scale = (n) => {
      const exponent = n.digits === '' ? 0 : Math.floor((n.point - 1) / step) * step;
      return o.notation === 'compact' ? Math.min(12, Math.max(0, exponent)) : exponent;
    };
    let exponent = scale(number);
    let shown = roundFor({ ...number, point: number.point - exponent }, o);
    const again = scale({ ...shown, point: shown.point + exponent });
    if (again !== exponent) {
      exponent = again;
      shown = roundFor({ ...number, point: number.point - exponent }, o);
    }
    return [shown, exponent];
  }

  function numberParts(value, o) {
    if (isNaN(value)) return { parts: [{ type: 'nan', value: 'NaN' }], negative: false, zero: false, one: false };
    const isInfinite = value === Infinity || value === -Infinity;
    if (isInfinite) return { parts: [{ type: 'infinity', value: '∞' }], negative: value < 0, zero: false, one: false };
    let number = toDecimal(value);
    if (o.style === 'percent') number = { ...number, point: number.digits === '' ? 0 : number.point + 2 };
    const [scaled, exponent] = magnitude(number, o);
    const rounded = o.notation === 'standard' ? roundFor(scaled, o) : scaled;
    const [integer, fraction] = split(rounded, o);
    const parts = [];
    group(integer, o, parts);
    if (fraction !== '') push(parts, { type: 'decimal', value: '.' }, { type: 'fraction', value: fraction });
    if (o.notation === 'compact' && exponent > 0) {
      if (o.compactDisplay === 'long') push(parts, { type: 'literal', value: ' ' }, { type: 'compact', value: compactLong[exponent / 3] });
      else push(parts, { type: 'compact', value: compactShort[exponent / 3] });
    } else if (o.notation === 'scientific' || o.notation === 'engineering') {
      push(parts, { type: 'exponentSeparator', value: 'E' });
      if (exponent < 0) push(parts, { type: 'exponentMinusSign', value: '-' });
      push(parts, { type: 'exponentInteger', value: String(Math.abs(exponent)) });
    }
    return { parts, negative: rounded.negative, zero: rounded.digits === '', one: integer === '1' && fraction === '' && exponent === 0 };
  }

  function signOf({ negative, zero }, o) {
    switch (o.signDisplay) {
      case 'never': return '';
      case 'always': return negative ? '-' : '+';
      case 'exceptZero': return zero ? '' : negative ? '-' : '+';
      case 'negative': return negative && !zero ? '-' : '';
      default: return negative ? '-' : '';
    }
  }

  function decorate(number, o) {
    const sign = signOf(number, o);
    const before = [];
    const after = [];
    if (o.style === 'percent') push(after, { type: 'percentSign', value: '%' });
    if (o.style === 'currency') decorateCurrency(number, o, before, after);
    if (o.style === 'unit') decorateUnit(number, o, after);
    if (o.style === 'currency' && o.currencySign === 'accounting' && sign === '-') {
      return [{ type: 'literal', value: '(' }, ...before, ...number.parts, ...after, { type: 'literal', value: ')' }];
    }
    const signs = sign === '' ? [] : [{ type: sign === '-' ? 'minusSign' : 'plusSign', value: sign }];
    return [...signs, ...before, ...number.parts, ...after];
  }
  function decorateCurrency(number, o, before, after) {
    const code = o.currency;
    if (o.currencyDisplay === 'name') {
      const name = currencyNames[code] ?? code;
      push(after, { type: 'literal', value: ' ' }, { type: 'currency', value: number.one || !currencyNames[code] ? name : (currencyPlurals[code] ?? `${name}s`) });
      return;
    }
    const symbol = o.currencyDisplay === 'code' ? code : o.currencyDisplay === 'narrowSymbol' ? (narrow[code] ?? symbols[code] ?? code) : (symbols[code] ?? code);
    push(before, { type: 'currency', value: symbol });
    if (test(/[A-Za-z]$/, symbol)) push(before, { type: 'literal', value: '\u00a0' });
  }
  function decorateUnit(number, o, after) {
    const [short, one, many = `${one}s`] = units[o.unit];
    let text;
    if (o.unitDisplay === 'long') text = number.one ? one : many;
    else if (o.unitDisplay === 'narrow') text = narrowUnit[o.unit] ?? short;
    else text = number.one ? short : (shortPlural[o.unit] ?? short);
    const spaced = o.unitDisplay === 'long' || (o.unitDisplay === 'short' && indexOfItem(tight, o.unit) < 0);
    if (spaced) push(after, { type: 'literal', value: ' ' });
    push(after, { type: o.unit === 'percent' && o.unitDisplay !== 'long' ? 'percentSign' : 'unit', value: text });
  }

  function toNumeric(value) {
    if (typeof value === 'bigint') return value;
    if (typeof value === 'string' && test(/^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/, value)) return value;
    return Number(value);
  }

  function readDigits(options, o, minDefault, maxDefault) {
    o.minimumIntegerDigits = count(options, 'minimumIntegerDigits', 1, 21, 1);
    const minSig = options.minimumSignificantDigits;
    const maxSig = options.maximumSignificantDigits;
    if (minSig !== undefined || maxSig !== undefined) {
      o.minimumSignificantDigits = count(options, 'minimumSignificantDigits', 1, 21, 1);
      o.maximumSignificantDigits = count(options, 'maximumSignificantDigits', o.minimumSignificantDigits, 21, 21);
      return;
    }
    const hasFraction = options.minimumFractionDigits !== undefined || options.maximumFractionDigits !== undefined;
    if (o.notation === 'compact' && !hasFraction) {
      Object.assign(o, { minimumFractionDigits: 0, maximumFractionDigits: 0, minimumSignificantDigits: 1, maximumSignificantDigits: 2, morePrecision: true });
      return;
    }
    let least = count(options, 'minimumFractionDigits', 0, 100, undefined);
    let most = count(options, 'maximumFractionDigits', 0, 100, undefined);
    least ??= Math.min(minDefault, most ?? minDefault);
    most ??= Math.max(maxDefault, least);
    if (least > most) throw new RangeError('maximumFractionDigits value is out of range.');
    o.minimumFractionDigits = least;
    o.maximumFractionDigits = most;
  }

  class NumberFormat {
    #o = {};
    #format;
    constructor(locales, options = {}) {
      const o = this.#o;
      const given = Object(options);
      o.locale = resolve(locales);
      o.style = choice(given, 'style', ['decimal', 'percent', 'currency', 'unit'], 'decimal');
      if (given.currency !== undefined && !test(/^[A-Za-z]{3}$/, String(given.currency))) throw new RangeError(`Invalid currency code : ${given.currency}`);
      if (o.style === 'currency') {
        if (given.currency === undefined) throw new TypeError('Currency code is required with currency style.');
        o.currency = String(given.currency).toUpperCase();
        o.currencyDisplay = choice(given, 'currencyDisplay', ['code', 'symbol', 'narrowSymbol', 'name'], 'symbol');
        o.currencySign = choice(given, 'currencySign', ['standard', 'accounting'], 'standard');
      }
      if (o.style === 'unit') {
        if (given.unit === undefined) throw new TypeError('Unit is required with unit style.');
        o.unit = String(given.unit);
        if (!units[o.unit]) throw new RangeError(`Invalid unit argument for Intl.NumberFormat() '${o.unit}'`);
        o.unitDisplay = choice(given, 'unitDisplay', ['short', 'narrow', 'long'], 'short');
      }
      o.notation = choice(given, 'notation', ['standard', 'scientific', 'engineering', 'compact'], 'standard');
      if (o.notation === 'compact') o.compactDisplay = choice(given, 'compactDisplay', ['short', 'long'], 'short');
      const cents = o.style !== 'currency' || o.notation !== 'standard' ? 0 : noCents.includes(o.currency) ? 0 : threeDigits.includes(o.currency) ? 3 : 2;
      const most = o.style === 'currency' ? cents : o.style === 'percent' ? 0 : o.notation === 'compact' ? 0 : 3;
      readDigits(given, o, cents, most);
      const grouping = given.useGrouping;
      o.useGrouping = grouping === undefined ? (o.notation === 'compact' ? 'min2' : 'auto') : grouping === false || grouping === 'false' ? false : grouping === 'min2' ? 'min2' : grouping === 'auto' ? 'auto' : 'always';
      o.signDisplay = choice(given, 'signDisplay', ['auto', 'never', 'always', 'exceptZero', 'negative'], 'auto');
      o.roundingMode = choice(given, 'roundingMode', ['ceil', 'floor', 'expand', 'trunc', 'halfCeil', 'halfFloor', 'halfExpand', 'halfTrunc', 'halfEven'], 'halfExpand');
    }
    get format() {
      this.#format ??= (value) => join(this.formatToParts(value));
      return this.#format;
    }
    formatToParts(value) {
      return decorate(numberParts(toNumeric(value), this.#o), this.#o);
    }
    formatRange(from, to) {
      const [a, b] = [this.format(from), this.format(to)];
      return a === b ? `~${a}` : this.#o.style === 'decimal' ? `${a}–${b}` : `${a} – ${b}`;
    }
    resolvedOptions() {
      const { morePrecision, ...shown } = this.#o;
      return { ...shown, numberingSystem: 'latn', roundingIncrement: 1, roundingPriority: morePrecision ? 'morePrecision' : 'auto', trailingZeroDisplay: 'auto' };
    }
  }
  const join = (parts) => {
    let text = '';
    for (let i = 0; i < parts.length; i++) text += parts[i].value;
    return text;
  };
  publish('NumberFormat', NumberFormat, true);

  shared.intl.NumberFormat = NumberFormat;
  shared.intl.joinParts = join;
  const plain = new NumberFormat();
  const format = (value, locales, options) => (locales === undefined && options === undefined ? plain : new NumberFormat(locales, options)).format(value);
  const thisNumber = Function.prototype.call.bind(Number.prototype.valueOf);
  const thisBigInt = Function.prototype.call.bind(BigInt.prototype.valueOf);
  shared.define(Number.prototype, 'toLocaleString', { toLocaleString(locales, options) { return format(thisNumber(this), locales, options); } }.toLocaleString);
  shared.define(BigInt.prototype, 'toLocaleString', { toLocaleString(locales, options) { return format(thisBigInt(this), locales, options); } }.toLocaleString);
})

// Intl.DateTimeFormat for English. Time zones: see intl-zones.js.
(function (natives, shared) {
  'use strict';
  const { String, Number, Date, dateTime, push, slice, padStart, isNaN, Math, RangeError, TypeError } = shared.js;
  const { resolve, choice, count, publish, joinParts } = shared.intl;
  const { zoneOf } = shared.intl;

  const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
  const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
  const styled = (names, style, index) => (style === 'long' ? names[index] : style === 'short' ? slice(names[index], 0, 3) : names[index][0]);
  const dateStyles = {
    full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' },
    long: { year: 'numeric', month: 'long', day: 'numeric' },
    medium: { year: 'numeric', month: 'short', day: 'numeric' },
    short: { year: '2-digit', month: 'numeric', day: 'numeric' },
  };
  const timeStyles = {
    full: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'long' },
    long: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
    medium: { hour: 'numeric', minute: '2-digit', second: '2-digit' },
    short: { hour: 'numeric', minute: '2-digit' },
  };
  const DATE_FIELDS = ['weekday', 'year', 'month', 'day'];
  const TIME_FIELDS = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits'];
  const two = (n) => padStart(String(n), 2, '0');
  const number = (style, n) => (style === '2-digit' ? two(n % 100) : String(n));

  function fieldsOf(time, zone) {
    const { offset, name } = zone.at(time);
    const d = new Date(time + offset);
    return { year: d.getUTCFullYear(), month: d.getUTCMonth(), day: d.getUTCDate(), weekday: d.getUTCDay(), hour: d.getUTCHours(), minute: d.getUTCMinutes(), second: d.getUTCSeconds(), ms: d.getUTCMilliseconds(), zone: name, offset };
  }

  const literal = (value) => ({ type: 'literal', value });
  const spread = (lists, separator) => {
    const parts = [];
    for (let i = 0; i < lists.length; i++) {
      if (lists[i].length === 0) continue;
      if (parts.length > 0) push(parts, literal(separator));
      for (let k = 0; k < lists[i].length; k++) push(parts, lists[i][k]);
    }
    return parts;
  };

  function dateParts(o, f) {
    const weekday = o.weekday ? [{ type: 'weekday', value: styled(days, o.weekday, f.weekday) }] : [];
    const year = o.year ? [{ type: 'year', value: number(o.year, o.era && f.year <= 0 ? 1 - f.year : f.year) }] : [];
    const day = o.day ? [{ type: 'day', value: number(o.day, f.day) }] : [];
    const era = o.era ? [{ type: 'era', value: f.year > 0 ? { long: 'Anno Domini', short: 'AD', narrow: 'A' }[o.era] : { long: 'Before Christ', short: 'BC', narrow: 'B' }[o.era] }] : [];
    const isText = o.month === 'long' || o.month === 'short' || o.month === 'narrow';
    if (isText) {
      const month = [{ type: 'month', value: styled(months, o.month, f.month) }];
      const monthDay = spread([month, day], ' ');
      const dated = spread([monthDay, spread([year, era], ' ')], o.day ? ', ' : ' ');
      return spread([weekday, dated], ', ');
    }
    const month = o.month ? [{ type: 'month', value: number(o.month, f.month + 1) }] : [];
    if (o.weekday && o.day && !o.month && !o.year) return spread([day, weekday], ' ');
    return spread([weekday, spread([spread([month, day, year], '/'), era], ' ')], ', ');
  }

  function dayPeriod(style, hour) {
    const name = hour === 12 ? 'noon' : hour >= 6 && hour < 12 ? 'in the morning' : hour > 12 && hour < 18 ? 'in the afternoon' : hour >= 18 && hour < 21 ? 'in the evening' : 'at night';
    return style === 'narrow' && name === 'noon' ? 'n' : name;
  }

  function timeParts(o, f) {
    const parts = [];
    const clock = o.hourCycle === 'h12' || o.hourCycle === 'h11';
    if (o.hour) {
      const hour = o.hourCycle === 'h12' ? f.hour % 12 || 12 : o.hourCycle === 'h11' ? f.hour % 12 : o.hourCycle === 'h24' ? f.hour || 24 : f.hour;
      push(parts, { type: 'hour', value: o.hour === '2-digit' || !clock ? two(hour) : String(hour) });
    }
    if (o.minute) {
      if (parts.length) push(parts, literal(':'));
      push(parts, { type: 'minute', value: o.hour || o.second || o.minute === '2-digit' ? (o.hour || o.second ? two(f.minute) : String(f.minute)) : String(f.minute) });
    }
    if (o.second) {
      if (parts.length) push(parts, literal(':'));
      push(parts, { type: 'second', value: o.minute ? two(f.second) : String(f.second) });
    }
    if (o.fractionalSecondDigits) {
      if (parts.length) push(parts, literal('.'));
      push(parts, { type: 'fractionalSecond', value: slice(padStart(String(f.ms), 3, '0'), 0, o.fractionalSecondDigits) });
    }
    if (o.dayPeriod && (!o.hour || clock)) {
      if (parts.length) push(parts, literal(' '));
      push(parts, { type: 'dayPeriod', value: dayPeriod(o.dayPeriod, f.hour) });
    } else if (o.hour && clock) {
      push(parts, literal(' '), { type: 'dayPeriod', value: f.hour < 12 ? 'AM' : 'PM' });
    }
    if (o.timeZoneName) {
      if (parts.length) push(parts, literal(' '));
      push(parts, { type: 'timeZoneName', value: zoneName(o, f) });
    }
    return parts;
  }
  function zoneName(o, f) {
    if (o.timeZoneName === 'short' || o.timeZoneName === 'long') return f.zone[o.timeZoneName === 'long' ? 1 : 0];
    if (o.timeZoneName === 'shortGeneric' || o.timeZoneName === 'longGeneric') return f.zone[o.timeZoneName === 'longGeneric' ? 1 : 0];
    if (f.offset === 0) return 'GMT';
    const minutes = Math.abs(f.offset) / 60000;
    const hours = Math.floor(minutes / 60);
    const sign = f.offset < 0 ? '-' : '+';
    if (o.timeZoneName === 'longOffset') return `GMT${sign}${two(hours)}:${two(minutes % 60)}`;
    return `GMT${sign}${hours}${minutes % 60 ? `:${two(minutes % 60)}` : ''}`;
  }

  function readOptions(options, o, needed, defaults) {
    const text = ['narrow', 'short', 'long'];
    const digits = ['2-digit', 'numeric'];
    o.weekday = choice(options, 'weekday', text, undefined);
    o.era = choice(options, 'era', text, undefined);
    o.year = choice(options, 'year', digits, undefined);
    o.month = choice(options, 'month', [...digits, ...text], undefined);
    o.day = choice(options, 'day', digits, undefined);
    o.dayPeriod = choice(options, 'dayPeriod', text, undefined);
    o.hour = choice(options, 'hour', digits, undefined);
    o.minute = choice(options, 'minute', digits, undefined);
    o.second = choice(options, 'second', digits, undefined);
    o.fractionalSecondDigits = count(options, 'fractionalSecondDigits', 1, 3, undefined);
    o.timeZoneName = choice(options, 'timeZoneName', ['short', 'long', 'shortOffset', 'longOffset', 'shortGeneric', 'longGeneric'], undefined);
    o.dateStyle = choice(options, 'dateStyle', ['full', 'long', 'medium', 'short'], undefined);
    o.timeStyle = choice(options, 'timeStyle', ['full', 'long', 'medium', 'short'], undefined);
    if (o.dateStyle || o.timeStyle) {
      for (const field of [...DATE_FIELDS, ...TIME_FIELDS]) if (o[field] !== undefined) throw new TypeError(`Can't set option ${field} when ${o.dateStyle ? 'dateStyle' : 'timeStyle'} is used`);
      Object.assign(o, o.dateStyle && dateStyles[o.dateStyle], o.timeStyle && timeStyles[o.timeStyle]);
      return;
    }
    const has = (fields) => fields.some((field) => o[field] !== undefined);
    const missing = (needed !== 'time' && has(DATE_FIELDS)) || (needed !== 'date' && has(TIME_FIELDS)) ? false : true;
    if (!missing) return;
    if (defaults !== 'time') Object.assign(o, { year: 'numeric', month: 'numeric', day: 'numeric' });
    if (defaults !== 'date') Object.assign(o, { hour: 'numeric', minute: '2-digit', second: '2-digit' });
  }

  class DateTimeFormat {
    #o = {};
    #zone;
    #format;
    constructor(locales, options = {}, needed = 'any', defaults = 'date') {
      const o = this.#o;
      const given = Object(options ?? undefined);
      o.locale = resolve(locales);
      this.#zone = zoneOf(given.timeZone === undefined ? 'UTC' : String(given.timeZone));
      readOptions(given, o, needed, defaults);
      const cycle = choice(given, 'hourCycle', ['h11', 'h12', 'h23', 'h24'], undefined);
      if (o.hour) o.hourCycle = given.hour12 === undefined ? (cycle ?? 'h12') : given.hour12 ? 'h12' : 'h23';
    }
    get format() {
      this.#format ??= (date) => joinParts(this.formatToParts(date));
      return this.#format;
    }
    formatToParts(date) {
      const o = this.#o;
      const time = date === undefined ? Date.now() : typeof date === 'object' && natives.classOf(date) === 'Date' ? dateTime(date) : Number(date);
      if (isNaN(time) || Math.abs(time) > 8.64e15) throw new RangeError('Invalid time value');
      const f = fieldsOf(Math.trunc(time), this.#zone);
      const at = (o.dateStyle === 'full' || o.dateStyle === 'long') && o.timeStyle ? ' at ' : !o.dateStyle && o.month === 'long' ? ' at ' : o.weekday && !o.day && !o.month && !o.year ? ' ' : ', ';
      return spread([dateParts(o, f), timeParts(o, f)], at);
    }
    formatRange(from, to) {
      const [a, b] = [this.format(from), this.format(to)];
      return a === b ? a : `${a} – ${b}`;
    }
    resolvedOptions() {
      const shown = { locale: this.#o.locale, calendar: 'gregory', numberingSystem: 'latn', timeZone: this.#zone.id };
      for (const key of Object.keys(this.#o)) if (this.#o[key] !== undefined) shown[key] = this.#o[key];
      if (shown.hourCycle) shown.hour12 = shown.hourCycle === 'h12' || shown.hourCycle === 'h11';
      return shown;
    }
  }
  publish('DateTimeFormat', DateTimeFormat, true);

  function localeMethod(name, needed, defaults) {
    const method = {
      [name](locales, options) {
        const time = dateTime(this);
        return isNaN(time) ? 'Invalid Date' : new DateTimeFormat(locales, options, needed, defaults).format(time);
      },
    }[name];
    shared.define(Date.prototype, name, method);
  }
  localeMethod('toLocaleString', 'any', 'all');
  localeMethod('toLocaleDateString', 'date', 'date');
  localeMethod('toLocaleTimeString', 'time', 'time');
})

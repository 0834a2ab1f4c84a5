// Time zones of Intl: UTC, fixed offsets, and the zones below by the rules in force since 2007
// (United States, Canada) and 1996 (Europe). An earlier date in such a zone, and any other zone, is an error rather
// than a guess.
(function (natives, shared) {
  'use strict';
  const { exec, RangeError, toLowerCase, Date, Math } = shared.js;
  const HOUR = 3600000;

  // Summer time from and to, as [month, which Sunday (-1: last), hour], in local standard time or UTC.
  const rules = {
    us: { since: 2007, from: [2, 2, 2], to: [10, 1, 1], utc: false },
    eu: { since: 1996, from: [2, -1, 1], to: [9, -1, 1], utc: true },
    au: { since: 2008, from: [9, 1, 2], to: [3, 1, 2], utc: false },
    nz: { since: 2007, from: [8, -1, 2], to: [3, 1, 2], utc: false },
  };
  const table = {
    'America/New_York': [-5, 'us', 'EST', 'EDT', 'Eastern'], 'America/Toronto': [-5, 'us', 'EST', 'EDT', 'Eastern'], 'America/Detroit': [-5, 'us', 'EST', 'EDT', 'Eastern'],
    'America/Chicago': [-6, 'us', 'CST', 'CDT', 'Central'], 'America/Winnipeg': [-6, 'us', 'CST', 'CDT', 'Central'],
    'America/Denver': [-7, 'us', 'MST', 'MDT', 'Mountain'], 'America/Edmonton': [-7, 'us', 'MST', 'MDT', 'Mountain'],
    'America/Los_Angeles': [-8, 'us', 'PST', 'PDT', 'Pacific'], 'America/Vancouver': [-8, 'us', 'PST', 'PDT', 'Pacific'],
    'America/Anchorage': [-9, 'us', 'AKST', 'AKDT', 'Alaska'], 'America/Halifax': [-4, 'us', 'AST', 'ADT', 'Atlantic'],
    'Europe/London': [0, 'eu', 'GMT', 'GMT+1', null, 'Greenwich Mean Time', 'British Summer Time'], 'Europe/Dublin': [0, 'eu', 'GMT', 'GMT+1', null, 'Greenwich Mean Time', 'Irish Standard Time'],
    'Europe/Lisbon': [0, 'eu', 'GMT', 'GMT+1', null, 'Western European Standard Time', 'Western European Summer Time'],
    'Australia/Sydney': [10, 'au', 'GMT+10', 'GMT+11', null, 'Australian Eastern Standard Time', 'Australian Eastern Daylight Time'],
    'Australia/Melbourne': [10, 'au', 'GMT+10', 'GMT+11', null, 'Australian Eastern Standard Time', 'Australian Eastern Daylight Time'],
    'Pacific/Auckland': [12, 'nz', 'GMT+12', 'GMT+13', null, 'New Zealand Standard Time', 'New Zealand Daylight Time'],
    'America/Phoenix': [-7, null, 'MST', null, null, 'Mountain Standard Time'], 'Pacific/Honolulu': [-10, null, 'HST', null, null, 'Hawaii-Aleutian Standard Time'],
    'Asia/Tokyo': [9, null, 'GMT+9', null, null, 'Japan Standard Time'], 'Asia/Seoul': [9, null, 'GMT+9', null, null, 'Korean Standard Time'],
    'Asia/Shanghai': [8, null, 'GMT+8', null, null, 'China Standard Time'], 'Asia/Hong_Kong': [8, null, 'GMT+8', null, null, 'Hong Kong Standard Time'],
    'Asia/Singapore': [8, null, 'GMT+8', null, null, 'Singapore Standard Time'], 'Asia/Kolkata': [5.5, null, 'GMT+5:30', null, null, 'India Standard Time'],
    'Asia/Calcutta': [5.5, null, 'GMT+5:30', null, null, 'India Standard Time'], 'Asia/Dubai': [4, null, 'GMT+4', null, null, 'Gulf Standard Time'],
    'Australia/Brisbane': [10, null, 'GMT+10', null, null, 'Australian Eastern Standard Time'], 'Australia/Perth': [8, null, 'GMT+8', null, null, 'Australian Western Standard Time'],
    'America/Sao_Paulo': [-3, null, 'GMT-3', null, null, 'Brasilia Standard Time'],
  };
  for (const city of ['Berlin', 'Paris', 'Madrid', 'Rome', 'Vienna', 'Zurich', 'Amsterdam', 'Brussels', 'Stockholm', 'Oslo', 'Copenhagen', 'Prague', 'Warsaw', 'Budapest', 'Luxembourg']) {
    table[`Europe/${city}`] = [1, 'eu', 'GMT+1', 'GMT+2', null, 'Central European Standard Time', 'Central European Summer Time'];
  }
  for (const city of ['Athens', 'Helsinki', 'Bucharest', 'Sofia', 'Kyiv', 'Riga', 'Vilnius', 'Tallinn']) {
    table[`Europe/${city}`] = [2, 'eu', 'GMT+2', 'GMT+3', null, 'Eastern European Standard Time', 'Eastern European Summer Time'];
  }
  const aliases = { 'us/eastern': 'America/New_York', 'us/central': 'America/Chicago', 'us/mountain': 'America/Denver', 'us/pacific': 'America/Los_Angeles' };
  const byName = { __proto__: null };
  for (const id of Object.keys(table)) byName[toLowerCase(id)] = id;
  for (const alias of Object.keys(aliases)) byName[alias] = aliases[alias];
  const CONSTANT_SINCE = Date.UTC(2020, 0, 1); // the last of these to change was Sao Paulo, in 2019

  function sunday(year, [month, which, hour]) {
    const first = which > 0 ? new Date(Date.UTC(year, month, 1)) : new Date(Date.UTC(year, month + 1, 0));
    const weekday = first.getUTCDay();
    const day = which > 0 ? 1 + ((7 - weekday) % 7) + (which - 1) * 7 : first.getUTCDate() - weekday;
    return Date.UTC(year, month, day, hour);
  }

  function summerAt(time, offset, rule, id) {
    const year = new Date(time + offset).getUTCFullYear();
    if (year < rule.since) throw new RangeError(`dates before ${rule.since} are not available in the time zone ${id}; use UTC`);
    const shift = rule.utc ? 0 : offset;
    const from = sunday(year, rule.from) - shift;
    const to = sunday(year, rule.to) - shift;
    return from < to ? time >= from && time < to : time >= from || time < to;
  }

  const fixed = (id, offset, short, long) => ({ id, at: () => ({ offset, name: [short, long] }) });

  function zoneOf(name) {
    const lower = toLowerCase(name);
    if (lower === 'utc' || lower === 'gmt' || lower === 'etc/utc' || lower === 'etc/gmt' || lower === 'z') return fixed('UTC', 0, 'UTC', 'Coordinated Universal Time');
    const offset = exec(/^([+-])(\d{2}):?(\d{2})$/, name);
    if (offset) {
      const ms = (offset[1] === '-' ? -1 : 1) * (offset[2] * HOUR + offset[3] * 60000);
      const hours = Math.floor(Math.abs(ms) / HOUR);
      const minutes = offset[3] === '00' ? '' : `:${offset[3]}`;
      return fixed(`${offset[1]}${offset[2]}:${offset[3]}`, ms, ms === 0 ? 'GMT' : `GMT${offset[1]}${hours}${minutes}`, `GMT${offset[1]}${offset[2]}:${offset[3]}`);
    }
    const id = byName[lower];
    if (!id) throw new RangeError(`the time zone ${name} is not available here; use "UTC", an offset like "+02:00", or one of ${Object.keys(table).length} common zones such as "Europe/Berlin"`);
    const [hours, ruleName, standard, summer, family, longStandard, longSummer] = table[id];
    const base = hours * HOUR;
    const rule = rules[ruleName];
    return {
      id,
      at(time) {
        if (!rule) {
          if (time < (id === 'America/Sao_Paulo' ? CONSTANT_SINCE : Date.UTC(1995, 0, 1))) throw new RangeError(`dates so early are not available in the time zone ${id}; use UTC`);
          return { offset: base, name: [standard, longStandard] };
        }
        const isSummer = summerAt(time, base, rule, id);
        const long = family ? `${family} ${isSummer ? 'Daylight' : 'Standard'} Time` : isSummer ? longSummer : longStandard;
        return { offset: base + (isSummer ? HOUR : 0), name: [isSummer ? summer : standard, long] };
      },
    };
  }
  shared.intl.zoneOf = zoneOf;
})

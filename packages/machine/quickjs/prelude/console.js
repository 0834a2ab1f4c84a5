// console: log, info, debug, table, dir and group to stdout; warn, error, trace and failed assertions to stderr.
(function (natives, shared) {
  'use strict';
  const { push, join, slice, repeat, replace, split, isArray, hasOwn, keys, indexOfItem, toFixed, create, Math } = shared.js;
  const { String, Number, parseInt, parseFloat, bigintText, stringify } = shared.js;
  const { inspect } = shared;
  const { width } = shared.inspectText;
  const { classOf, entriesOf, now } = natives;
  const OUT = 1;
  const ERR = 2;
  let indent = '';
  const counts = create(null);
  const times = create(null);

  const write = (kind, text) => natives.emitText(kind, `${indent ? indent + replace(text, /\n/g, `\n${indent}`) : text}\n`);

  const toNumber = (value, convert) =>
    typeof value === 'bigint' ? `${bigintText(value)}n` : typeof value === 'symbol' || typeof value === 'object' ? 'NaN' : inspect(convert(value));

  function directive(letter, value) {
    switch (letter) {
      case 's':
        if (typeof value === 'string') return value;
        if (typeof value === 'bigint') return `${bigintText(value)}n`;
        return typeof value === 'object' && value !== null ? inspect(value, { depth: 0 }) : inspect(value);
      case 'd':
        return toNumber(value, Number);
      case 'i':
        return toNumber(value, (v) => parseInt(v, 10));
      case 'f':
        return typeof value === 'symbol' ? 'NaN' : inspect(parseFloat(value));
      case 'j':
        try {
          return String(stringify(value));
        } catch {
          return '[Circular]';
        }
      case 'o':
        return inspect(value, { depth: 4 });
      case 'O':
        return inspect(value);
      default:
        return '';
    }
  }

  function format(args) {
    const parts = [];
    let from = 0;
    if (typeof args[0] === 'string') {
      from = 1;
      const text = args[0];
      let result = '';
      let at = 0;
      for (let i = 0; i < text.length - 1; i++) {
        if (text[i] !== '%') continue;
        const letter = text[i + 1];
        if (letter === '%' && args.length > 1) result += `${slice(text, at, i)}%`;
        else if (indexOfItem(['s', 'd', 'i', 'f', 'j', 'o', 'O', 'c'], letter) >= 0 && from < args.length) result += slice(text, at, i) + directive(letter, args[from++]);
        else continue;
        i++;
        at = i + 1;
      }
      push(parts, result + slice(text, at));
    }
    for (let i = from; i < args.length; i++) push(parts, typeof args[i] === 'string' ? args[i] : inspect(args[i]));
    return join(parts, ' ');
  }
  shared.format = format;

  const cell = (value) => inspect(value, { depth: value !== null && typeof value === 'object' ? 0 : 1, breakLength: Infinity });

  function drawTable(head, rows) {
    const widths = [];
    for (let c = 0; c < head.length; c++) {
      let max = width(head[c]);
      for (let r = 0; r < rows.length; r++) max = Math.max(max, width(rows[r][c] ?? ''));
      push(widths, max + 2);
    }
    const rule = (left, middle, right) => {
      const bars = [];
      for (let c = 0; c < widths.length; c++) push(bars, repeat('─', widths[c]));
      return left + join(bars, middle) + right;
    };
    const line = (cells) => {
      const shown = [];
      for (let c = 0; c < widths.length; c++) {
        const text = cells[c] ?? '';
        push(shown, ` ${text}${repeat(' ', widths[c] - width(text) - 1)}`);
      }
      return `│${join(shown, '│')}│`;
    };
    const lines = [rule('┌', '┬', '┐'), line(head), rule('├', '┼', '┤')];
    for (let r = 0; r < rows.length; r++) push(lines, line(rows[r]));
    push(lines, rule('└', '┴', '┘'));
    return join(lines, '\n');
  }

  function table(data, columns) {
    if (data === null || typeof data !== 'object') return console.log(data);
    const kind = classOf(data);
    const rows = [];
    const index = [];
    if (kind === 'Map' || kind === 'Set') {
      const entries = entriesOf(data);
      const per = kind === 'Map' ? 2 : 1;
      for (let i = 0; i < entries.length; i += per) {
        push(index, String(i / per));
        push(rows, kind === 'Map' ? { Key: entries[i], Values: entries[i + 1] } : entries[i]);
      }
    } else {
      const names = keys(data);
      for (let i = 0; i < names.length; i++) {
        push(index, names[i]);
        push(rows, data[names[i]]);
      }
    }
    const head = [];
    let hasValues = false;
    for (let i = 0; i < rows.length; i++) {
      if (rows[i] === null || typeof rows[i] !== 'object') {
        hasValues = true;
        continue;
      }
      const names = keys(rows[i]);
      for (let k = 0; k < names.length; k++) if (indexOfItem(head, names[k]) < 0) push(head, names[k]);
    }
    const shownHead = isArray(columns) ? columns : head;
    const lines = [];
    for (let i = 0; i < rows.length; i++) {
      const line = [index[i]];
      const isObject = rows[i] !== null && typeof rows[i] === 'object';
      for (let c = 0; c < shownHead.length; c++) push(line, isObject && hasOwn(rows[i], shownHead[c]) ? cell(rows[i][shownHead[c]]) : '');
      if (hasValues) push(line, isObject ? '' : cell(rows[i]));
      push(lines, line);
    }
    const top = [kind === 'Map' || kind === 'Set' ? '(iteration index)' : '(index)'];
    for (let c = 0; c < shownHead.length; c++) push(top, String(shownHead[c]));
    if (hasValues) push(top, 'Values');
    write(OUT, drawTable(top, lines));
  }

  const elapsed = (label) => {
    const ms = now() - times[label];
    return `${label}: ${ms >= 1000 ? `${toFixed(ms / 1000, 3)}s` : `${toFixed(ms, 3)}ms`}`;
  };
  const stackHere = () => {
    const lines = split(String(new shared.js.Error().stack), '\n');
    return lines.length > 1 ? `\n${join(shared.js.sliceList(lines, 1), '\n')}` : '';
  };
  const labelOf = (label) => (label === undefined ? 'default' : String(label));

  const console = {
    log: (...args) => write(OUT, format(args)),
    info: (...args) => write(OUT, format(args)),
    debug: (...args) => write(OUT, format(args)),
    warn: (...args) => write(ERR, format(args)),
    error: (...args) => write(ERR, format(args)),
    trace: (...args) => write(ERR, `Trace${args.length ? `: ${format(args)}` : ''}${stackHere()}`),
    dir: (value, options) => write(OUT, inspect(value, options)),
    dirxml: (...args) => write(OUT, format(args)),
    table,
    assert(condition, ...args) {
      if (condition) return;
      if (typeof args[0] === 'string') args[0] = `Assertion failed: ${args[0]}`;
      else shared.js.splice(args, 0, 0, 'Assertion failed');
      write(ERR, format(args));
    },
    group(...args) {
      if (args.length) write(OUT, format(args));
      indent += '  ';
    },
    groupCollapsed(...args) {
      if (args.length) write(OUT, format(args));
      indent += '  ';
    },
    groupEnd() {
      indent = slice(indent, 2);
    },
    count(label) {
      const name = labelOf(label);
      counts[name] = (counts[name] ?? 0) + 1;
      write(OUT, `${name}: ${counts[name]}`);
    },
    countReset(label) {
      delete counts[labelOf(label)];
    },
    time(label) {
      times[labelOf(label)] = now();
    },
    timeLog(label, ...args) {
      const name = labelOf(label);
      if (times[name] === undefined) return write(ERR, `Warning: No such label '${name}' for console.timeLog()`);
      write(OUT, `${elapsed(name)}${args.length ? ` ${format(args)}` : ''}`);
    },
    timeEnd(label) {
      const name = labelOf(label);
      if (times[name] === undefined) return write(ERR, `Warning: No such label '${name}' for console.timeEnd()`);
      write(OUT, elapsed(name));
      delete times[name];
    },
    clear() {},
  };
  shared.global('console', console);
  shared.resetConsole = () => {
    indent = '';
  };
})

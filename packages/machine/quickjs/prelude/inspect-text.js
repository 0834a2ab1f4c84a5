// The typography of inspect: quotes, widths, and when things share a line.
(function (natives, shared) {
  'use strict';
  const { push, join, includes, indexOf, repeat, padStart, padEnd, slice, test, charCodeAt, codePointAt, Math } = shared.js;
  const { numberText } = shared.js;

  const short = { 8: '\\b', 9: '\\t', 10: '\\n', 12: '\\f', 13: '\\r', 92: '\\\\', __proto__: null };

  function quote(text) {
    const mark = !includes(text, "'") ? "'" : !includes(text, '"') ? '"' : !includes(text, '`') && !includes(text, '${') ? '`' : "'";
    if (!test(/[\x00-\x1f\x27\x5c\x7f-\x9f\ud800-\udfff]/, text)) return mark + text + mark;
    let result = mark;
    for (let i = 0; i < text.length; i++) {
      const code = charCodeAt(text, i);
      if (short[code]) result += short[code];
      else if (code < 32 || (code >= 127 && code <= 159)) result += `\\x${padStart(upper(code), 2, '0')}`;
      else if (code === 39 && mark === "'") result += "\\'";
      else if (code >= 0xd800 && code <= 0xdfff && !isPair(text, i, code)) result += `\\u${numberText(code, 16)}`;
      else if (code >= 0xd800 && code <= 0xdbff) result += text[i] + text[++i];
      else result += text[i];
    }
    return result + mark;
  }
  const upper = (code) => {
    const digits = numberText(code, 16);
    let result = '';
    for (let i = 0; i < digits.length; i++) result += digits[i] >= 'a' ? 'ABCDEF'[charCodeAt(digits, i) - 97] : digits[i];
    return result;
  };
  const isPair = (text, i, code) => {
    const next = charCodeAt(text, i + 1);
    return code <= 0xdbff && next >= 0xdc00 && next <= 0xdfff;
  };

  // A long text with several lines is shown as one piece per line.
  function quoteLong(text, context) {
    let rest = '';
    let shown = text;
    if (text.length > 10000) {
      rest = `... ${text.length - 10000} more character${text.length > 10001 ? 's' : ''}`;
      shown = slice(text, 0, 10000);
    }
    if (context.compact === true || shown.length <= 16 || shown.length <= context.breakLength - context.indent - 4 || !includes(shown, '\n')) return quote(shown) + rest;
    const lines = [];
    for (let at = 0; at < shown.length; ) {
      const end = indexOf(shown, '\n', at);
      const next = end < 0 ? shown.length : end + 1;
      push(lines, quote(slice(shown, at, next)));
      at = next;
    }
    return join(lines, ` +\n${repeat(' ', context.indent + 2)}`) + rest;
  }

  const isPlainKey = (key) => test(/^[a-zA-Z_][a-zA-Z_0-9]*$/, key);

  // Columns in a terminal: wide characters take two, combining ones none.
  function width(text) {
    if (!test(/[^\x20-\x7e]/, text)) return text.length;
    let columns = 0;
    for (let i = 0; i < text.length; i++) {
      const point = codePointAt(text, i);
      if (point > 0xffff) i++;
      if (isWide(point)) columns += 2;
      else if (!isZeroWidth(point)) columns++;
    }
    return columns;
  }
  const isWide = (p) =>
    p >= 0x1100 &&
    (p <= 0x115f || p === 0x2329 || p === 0x232a || (p >= 0x2e80 && p <= 0x3247 && p !== 0x303f) || (p >= 0x3250 && p <= 0x4dbf) || (p >= 0x4e00 && p <= 0xa4c6) ||
      (p >= 0xa960 && p <= 0xa97c) || (p >= 0xac00 && p <= 0xd7a3) || (p >= 0xf900 && p <= 0xfaff) || (p >= 0xfe10 && p <= 0xfe19) || (p >= 0xfe30 && p <= 0xfe6b) ||
      (p >= 0xff01 && p <= 0xff60) || (p >= 0xffe0 && p <= 0xffe6) || (p >= 0x1b000 && p <= 0x1b001) || (p >= 0x1f200 && p <= 0x1f251) || (p >= 0x1f300 && p <= 0x1f64f) ||
      (p >= 0x1f680 && p <= 0x1f6ff) || (p >= 0x1f900 && p <= 0x1f9ff) || (p >= 0x20000 && p <= 0x3fffd));
  const isZeroWidth = (p) =>
    p <= 0x1f || (p >= 0x7f && p <= 0x9f) || (p >= 0x300 && p <= 0x36f) || (p >= 0x200b && p <= 0x200f) || (p >= 0x20d0 && p <= 0x20ff) || (p >= 0xfe00 && p <= 0xfe0f) ||
    (p >= 0xfe20 && p <= 0xfe2f) || (p >= 0xe0100 && p <= 0xe01ef);

  // Many short items of a list stand in columns.
  function inColumns(output, list, context) {
    const hasMore = list !== undefined && output.length > 100 ? 1 : 0;
    const count = output.length - hasMore;
    const widths = [];
    let total = 0;
    let widest = 0;
    for (let i = 0; i < count; i++) {
      const w = width(output[i]);
      push(widths, w);
      total += w + 2;
      if (w > widest) widest = w;
    }
    const cell = widest + 2;
    if (cell * 3 + context.indent >= context.breakLength || !(total / cell > 5 || widest <= 6)) return output;
    const bias = Math.max(cell - 3 - Math.sqrt(cell - total / output.length), 1);
    const columns = Math.min(Math.round(Math.sqrt(2.5 * bias * count) / bias), Math.floor((context.breakLength - context.indent) / cell), context.compact * 4, 15);
    if (columns <= 1) return output;
    const columnWidths = [];
    for (let i = 0; i < columns; i++) {
      let max = 0;
      for (let j = i; j < count; j += columns) if (widths[j] > max) max = widths[j];
      push(columnWidths, max + 2);
    }
    let pad = padStart;
    if (list !== undefined) {
      for (let i = 0; i < output.length; i++) {
        if (typeof list[i] === 'number' || typeof list[i] === 'bigint') continue;
        pad = padEnd;
        break;
      }
    }
    const lines = [];
    for (let i = 0; i < count; i += columns) {
      const end = Math.min(i + columns, count);
      let line = '';
      let j = i;
      for (; j < end - 1; j++) line += pad(`${output[j]}, `, columnWidths[j - i] + output[j].length - widths[j], ' ');
      line += pad === padStart ? padStart(output[j], columnWidths[j - i] + output[j].length - widths[j] - 2, ' ') : output[j];
      push(lines, line);
    }
    if (hasMore) push(lines, output[count]);
    return lines;
  }

  function layOut(items, base, open, close, list, context, depth) {
    const lead = base ? `${base} ` : '';
    const output = list !== undefined && items.length > 6 ? inColumns(items, list, context) : items;
    if (context.currentDepth - depth < context.compact && output.length === items.length) {
      let length = output.length + (output.length + context.indent + open.length + base.length + 10);
      for (let i = 0; i < output.length; i++) length += output[i].length;
      const joined = join(output, ', ');
      if (length <= context.breakLength && !includes(base, '\n') && !includes(joined, '\n')) return `${lead}${open} ${joined} ${close}`;
    }
    const indentation = `\n${repeat(' ', context.indent)}`;
    return `${lead}${open}${indentation}  ${join(output, `,${indentation}  `)}${indentation}${close}`;
  }

  shared.inspectText = { quote, quoteLong, isPlainKey, layOut, width };
})

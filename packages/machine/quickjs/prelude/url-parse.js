// URLs by the WHATWG URL Standard: text to parts and parts to text. Hosts outside of ASCII become punycode; the full
// tables of IDNA are not here, so characters that it maps or forbids are only lower-cased and composed.
(function (natives, shared) {
  'use strict';
  const { includes, indexOf, slice, split, join, push, startsWith, test, exec, replace, toLowerCase, charCodeAt, codePointAt, normalize } = shared.js;
  const { numberText, parseInt, TypeError, Math, isNaN } = shared.js;
  const { utf8Encode, utf8Decode } = natives;
  const fromCharCode = String.fromCharCode;
  const ports = { __proto__: null, 'http:': 80, 'https:': 443, 'ws:': 80, 'wss:': 443, 'ftp:': 21, 'file:': null };
  const isSpecial = (scheme) => scheme in ports;

  const CONTROL = '';
  const FRAGMENT = ' "<>`';
  const QUERY = ' "#<>';
  const SPECIAL_QUERY = ' "#<>\'';
  const PATH = ' "#<>?^`{}';
  const USER = ' "#<>?^`{}/:;=@[\\]|';

  function encode(text, set) {
    let result = '';
    for (let i = 0; i < text.length; i++) {
      const code = charCodeAt(text, i);
      if (code > 0x1f && code < 0x7f && !includes(set, text[i])) {
        result += text[i];
        continue;
      }
      const character = code >= 0xd800 && code <= 0xdbff && i + 1 < text.length ? text[i] + text[++i] : text[i];
      const bytes = utf8Encode(character);
      for (let k = 0; k < bytes.length; k++) result += percent(bytes[k]);
    }
    return result;
  }
  const percent = (byte) => {
    const digits = numberText(byte, 16);
    let result = byte < 16 ? '%0' : '%';
    for (let i = 0; i < digits.length; i++) result += digits[i] >= 'a' ? fromCharCode(charCodeAt(digits, i) - 32) : digits[i];
    return result;
  };
  function decode(text) {
    if (!includes(text, '%')) return text;
    const from = utf8Encode(text);
    const to = [];
    for (let i = 0; i < from.length; i++) {
      const hex = from[i] === 37 && i + 2 < from.length ? fromCharCode(from[i + 1], from[i + 2]) : '';
      if (test(/^[0-9a-fA-F]{2}$/, hex)) {
        push(to, parseInt(hex, 16));
        i += 2;
      } else {
        push(to, from[i]);
      }
    }
    return utf8Decode(new Uint8Array(to), false);
  }

  // RFC 3492.
  function punycode(label) {
    let output = '';
    const points = [];
    for (let i = 0; i < label.length; i++) {
      const point = codePointAt(label, i);
      if (point > 0xffff) i++;
      push(points, point);
      if (point < 128) output += fromCharCode(point);
    }
    if (output.length === points.length) return label;
    let handled = output.length;
    const basic = handled;
    if (basic > 0) output += '-';
    let n = 128;
    let delta = 0;
    let bias = 72;
    while (handled < points.length) {
      let next = 0x7fffffff;
      for (let i = 0; i < points.length; i++) if (points[i] >= n && points[i] < next) next = points[i];
      delta += (next - n) * (handled + 1);
      n = next;
      for (let i = 0; i < points.length; i++) {
        if (points[i] < n) delta++;
        if (points[i] !== n) continue;
        let q = delta;
        for (let k = 36; ; k += 36) {
          const t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
          if (q < t) break;
          output += digit(t + ((q - t) % (36 - t)));
          q = Math.floor((q - t) / (36 - t));
        }
        output += digit(q);
        delta = Math.floor(handled === basic ? delta / 700 : delta / 2);
        delta += Math.floor(delta / (handled + 1));
        let k = 0;
        for (; delta > 455; k += 36) delta = Math.floor(delta / 35);
        bias = k + Math.floor((36 * delta) / (delta + 38));
        delta = 0;
        handled++;
      }
      delta++;
      n++;
    }
    return `xn--${output}`;
  }
  const digit = (d) => fromCharCode(d < 26 ? d + 97 : d + 22);

  const fail = (text) => {
    const error = new TypeError('Invalid URL');
    error.code = 'ERR_INVALID_URL';
    error.input = text;
    throw error;
  };

  function parseIpv4(host, input) {
    const parts = split(host, '.');
    if (parts.length > 1 && parts[parts.length - 1] === '') parts.length--;
    if (!test(/^([0-9]+|0[xX][0-9a-fA-F]*)$/, parts[parts.length - 1])) return host;
    if (parts.length > 4) fail(input);
    let value = 0;
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i];
      const number = test(/^0[xX][0-9a-fA-F]*$/, part) ? parseInt(slice(part, 2) || '0', 16) : test(/^0[0-7]*$/, part) ? parseInt(part, 8) : test(/^[0-9]+$/, part) ? parseInt(part, 10) : NaN;
      const last = i === parts.length - 1;
      if (isNaN(number) || number >= (last ? 256 ** (5 - parts.length) : 256)) fail(input);
      value += last ? number : number * 256 ** (3 - i);
    }
    return join([Math.floor(value / 2 ** 24) % 256, Math.floor(value / 2 ** 16) % 256, Math.floor(value / 256) % 256, value % 256], '.');
  }

  function parseIpv6(text, input) {
    const halves = split(text, '::');
    if (halves.length > 2) fail(input);
    const words = (half) => {
      const result = [];
      if (half === '') return result;
      const parts = split(half, ':');
      for (let i = 0; i < parts.length; i++) {
        if (i === parts.length - 1 && includes(parts[i], '.')) {
          const four = exec(/^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/, parts[i]);
          if (!four || +four[1] > 255 || +four[2] > 255 || +four[3] > 255 || +four[4] > 255) fail(input);
          push(result, +four[1] * 256 + +four[2], +four[3] * 256 + +four[4]);
        } else {
          if (!test(/^[0-9a-fA-F]{1,4}$/, parts[i])) fail(input);
          push(result, parseInt(parts[i], 16));
        }
      }
      return result;
    };
    const all = words(halves[0]);
    const tail = halves.length === 2 ? words(halves[1]) : [];
    const missing = 8 - all.length - tail.length;
    if (halves.length === 2 ? missing < 1 : missing !== 0) fail(input);
    for (let i = 0; i < missing; i++) push(all, 0);
    for (let i = 0; i < tail.length; i++) push(all, tail[i]);
    return `[${showIpv6(all)}]`;
  }
  function showIpv6(words) {
    let best = -1;
    let bestLength = 1;
    for (let i = 0; i < 8; i++) {
      let length = 0;
      while (i + length < 8 && words[i + length] === 0) length++;
      if (length > bestLength) [best, bestLength] = [i, length];
    }
    let text = '';
    for (let i = 0; i < 8; i++) {
      if (i === best) {
        text += i === 0 ? '::' : ':';
        i += bestLength - 1;
      } else {
        text += numberText(words[i], 16) + (i < 7 ? ':' : '');
      }
    }
    return text;
  }

  function parseHost(text, special, input) {
    if (startsWith(text, '[')) return text[text.length - 1] === ']' ? parseIpv6(slice(text, 1, -1), input) : fail(input);
    if (!special) return test(/[\0\t\n\r #/<>?@[\\\]^|]/, text) ? fail(input) : encode(text, CONTROL);
    const labels = split(toLowerCase(normalize(toLowerCase(decode(text)), 'NFKC')), '.');
    for (let i = 0; i < labels.length; i++) labels[i] = punycode(labels[i]);
    const host = join(labels, '.');
    if (host === '' || test(/[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/, host)) fail(input);
    return parseIpv4(host, input);
  }

  function parseAuthority(url, text, input) {
    let at = -1;
    for (let i = 0; i < text.length; i++) if (text[i] === '@') at = i;
    if (at >= 0) {
      const user = slice(text, 0, at);
      const colon = indexOf(user, ':');
      url.username = encode(colon < 0 ? user : slice(user, 0, colon), USER);
      url.password = colon < 0 ? '' : encode(slice(user, colon + 1), USER);
    }
    const hostAndPort = slice(text, at + 1);
    const port = exec(/:([^\]:]*)$/, hostAndPort);
    const host = port ? slice(hostAndPort, 0, hostAndPort.length - port[0].length) : hostAndPort;
    if (port) setPort(url, port[1], input);
    if (host === '' && (isSpecial(url.scheme) || at >= 0 || port) && url.scheme !== 'file:') fail(input);
    url.host = host === '' ? '' : parseHost(host, isSpecial(url.scheme), input);
    if (url.scheme === 'file:' && url.host === 'localhost') url.host = '';
  }
  function setPort(url, text, input) {
    if (text === '') return;
    if (!test(/^[0-9]+$/, text) || +text > 65535) fail(input);
    url.port = +text === ports[url.scheme] ? null : +text;
  }

  const isDot = (s) => s === '.' || test(/^%2e$/i, s);
  const isTwoDots = (s) => test(/^(\.|%2e)(\.|%2e)$/i, s);
  function walk(path, text, special) {
    const parts = split(special ? replace(text, /\\/g, '/') : text, '/');
    for (let i = 0; i < parts.length; i++) {
      const last = i === parts.length - 1;
      if (isTwoDots(parts[i])) {
        if (path.length > 0) path.length--;
        if (last) push(path, '');
      } else if (isDot(parts[i])) {
        if (last) push(path, '');
      } else {
        push(path, encode(parts[i], PATH));
      }
    }
    return path;
  }

  const copy = (base, keep) => ({
    scheme: base.scheme,
    username: base.username,
    password: base.password,
    host: base.host,
    port: base.port,
    path: keep >= 1 ? (typeof base.path === 'string' ? base.path : shared.js.sliceList(base.path)) : [],
    query: keep >= 2 ? base.query : null,
    fragment: null,
  });

  function setPathQuery(url, rest, special) {
    const question = indexOf(rest, '?');
    const path = question < 0 ? rest : slice(rest, 0, question);
    if (question >= 0) url.query = encode(slice(rest, question + 1), special ? SPECIAL_QUERY : QUERY);
    return path;
  }

  function parse(text, base) {
    let rest = replace(replace(text, /^[\0-\x20]+|[\0-\x20]+$/g, ''), /[\t\n\r]/g, '');
    const hash = indexOf(rest, '#');
    const fragment = hash < 0 ? null : encode(slice(rest, hash + 1), FRAGMENT);
    if (hash >= 0) rest = slice(rest, 0, hash);
    const url = parseRest(rest, base, text, fragment !== null);
    url.fragment = fragment;
    return url;
  }

  function parseRest(rest, base, input, hasFragment) {
    const named = exec(/^([a-zA-Z][a-zA-Z0-9+.-]*:)/, rest);
    if (named) {
      const scheme = toLowerCase(named[1]);
      const after = slice(rest, named[1].length);
      const special = isSpecial(scheme);
      if (!(special && base && base.scheme === scheme && !test(/^[/\\]/, after))) {
        const url = { scheme, username: '', password: '', host: null, port: null, path: [], query: null, fragment: null };
        const afterQuery = setPathQuery(url, after, special);
        if (scheme === 'file:') return parseFile(url, afterQuery, input);
        if (special || startsWith(afterQuery, '//')) return withAuthority(url, replace(afterQuery, special ? /^[/\\]*/ : /^\/\//, ''), special, input);
        if (startsWith(afterQuery, '/')) url.path = walk([], slice(afterQuery, 1), false);
        else url.path = encode(afterQuery, CONTROL);
        return url;
      }
      return relative(after, base, input);
    }
    if (!base) return fail(input);
    if (typeof base.path === 'string' && !(rest === '' && hasFragment)) return fail(input);
    return relative(rest, base, input);
  }

  function withAuthority(url, text, special, input) {
    const end = special ? exec(/[/\\]/, text)?.index ?? -1 : indexOf(text, '/');
    parseAuthority(url, end < 0 ? text : slice(text, 0, end), input);
    const path = end < 0 ? '' : slice(text, end + 1);
    if (end >= 0 || special) url.path = walk([], path, special);
    return url;
  }
  function parseFile(url, text, input) {
    const match = exec(/^[/\\]{2}([^/\\]*)/, text);
    url.host = '';
    let path = text;
    if (match) {
      if (match[1] !== '') parseAuthority(url, match[1], input);
      path = slice(text, match[0].length);
    }
    url.path = walk([], replace(path, /^[/\\]/, ''), true);
    return url;
  }

  function relative(rest, base, input) {
    const special = isSpecial(base.scheme);
    if (rest === '') return copy(base, 2);
    if (rest[0] === '?') {
      const url = copy(base, 1);
      setPathQuery(url, rest, special);
      return url;
    }
    const slash = special ? /^[/\\]/ : /^\//;
    const url = copy(base, 0);
    const path = setPathQuery(url, rest, special);
    if (test(special ? /^[/\\]{2}/ : /^\/\//, path)) {
      if (base.scheme === 'file:') return parseFile(url, path, input);
      const fresh = { ...url, username: '', password: '', port: null };
      return withAuthority(fresh, replace(path, special ? /^[/\\]+/ : /^\/\//, ''), special, input);
    }
    if (test(slash, path)) {
      url.path = walk([], slice(path, 1), special);
      return url;
    }
    const start = shared.js.sliceList(base.path);
    if (start.length > 0) start.length--;
    url.path = walk(start, path, special);
    return url;
  }

  const pathname = (url) => (typeof url.path === 'string' ? url.path : url.path.length === 0 ? '' : `/${join(url.path, '/')}`);
  const hostWithPort = (url) => (url.host ?? '') + (url.port === null ? '' : `:${url.port}`);
  function serialise(url) {
    let text = url.scheme;
    if (url.host !== null) {
      const user = url.username || url.password ? `${url.username}${url.password ? `:${url.password}` : ''}@` : '';
      text += `//${user}${hostWithPort(url)}`;
    } else if (typeof url.path !== 'string' && url.path.length > 1 && url.path[0] === '') {
      text += '/.';
    }
    return text + pathname(url) + (url.query === null ? '' : `?${url.query}`) + (url.fragment === null ? '' : `#${url.fragment}`);
  }

  shared.url = { parse, serialise, pathname, hostWithPort, isSpecial, setPort, parseHost, walk, encode, decode, sets: { FRAGMENT, QUERY, SPECIAL_QUERY, USER, CONTROL } };
})

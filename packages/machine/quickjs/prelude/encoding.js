// TextEncoder, TextDecoder (utf-8, utf-16le, latin1), crypto.getRandomValues and randomUUID.
(function (natives, shared) {
  'use strict';
  const { String, Uint8Array, toLowerCase, trim, slice, push, join, numberText, padStart, charCodeAt, includes, RangeError, TypeError } = shared.js;
  const { utf8Encode, utf8Decode, fillRandom, classOf } = natives;
  const fromCharCode = String.fromCharCode;
  const subarray = Function.prototype.call.bind(Uint8Array.prototype.subarray);
  const setBytes = Function.prototype.call.bind(Uint8Array.prototype.set);

  class TextEncoder {
    get encoding() {
      return 'utf-8';
    }
    encode(text = '') {
      return utf8Encode(String(text));
    }
    encodeInto(text, target) {
      let read = 0;
      let written = 0;
      for (const character of String(text)) {
        const bytes = utf8Encode(character);
        if (written + bytes.length > target.length) break;
        setBytes(target, bytes, written);
        written += bytes.length;
        read += character.length;
      }
      return { read, written };
    }
  }

  const labels = { __proto__: null };
  for (const [name, others] of [
    ['utf-8', ['utf-8', 'utf8', 'unicode-1-1-utf-8']],
    ['utf-16le', ['utf-16le', 'utf-16', 'ucs-2', 'unicode']],
    ['windows-1252', ['latin1', 'iso-8859-1', 'ascii', 'us-ascii', 'windows-1252', 'l1', 'cp1252']],
  ]) {
    for (const label of others) labels[label] = name;
  }
  const CP1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

  function viewOf(data) {
    if (data === undefined) return new Uint8Array(0);
    const kind = classOf(data);
    if (kind === 'ArrayBuffer' || kind === 'SharedArrayBuffer') return new Uint8Array(data);
    if (kind === 'Uint8Array') return data;
    if (data?.buffer !== undefined && data.byteLength !== undefined) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    throw new TypeError('TextDecoder.decode: an ArrayBuffer or a view of one is needed');
  }

  // How many bytes at the end are the beginning of a character that is still to come.
  function unfinished(bytes) {
    for (let back = 1; back <= 3 && back <= bytes.length; back++) {
      const byte = bytes[bytes.length - back];
      if ((byte & 0xc0) === 0x80) continue;
      const needs = byte >= 0xf0 && byte <= 0xf4 ? 4 : byte >= 0xe0 && byte < 0xf0 ? 3 : byte >= 0xc2 && byte < 0xe0 ? 2 : 1;
      return needs > back ? back : 0;
    }
    return 0;
  }

  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBom;
    #kept = new Uint8Array(0);
    #started = false;
    constructor(label = 'utf-8', options = {}) {
      this.#encoding = labels[toLowerCase(trim(String(label)))];
      if (!this.#encoding) throw new RangeError(`The "${label}" encoding is not supported; utf-8, utf-16le and latin1 are`);
      this.#fatal = !!options?.fatal;
      this.#ignoreBom = !!options?.ignoreBOM;
    }
    get encoding() {
      return this.#encoding;
    }
    get fatal() {
      return this.#fatal;
    }
    get ignoreBOM() {
      return this.#ignoreBom;
    }
    decode(data, options) {
      const stream = !!options?.stream;
      let bytes = viewOf(data);
      if (this.#kept.length > 0) {
        const joined = new Uint8Array(this.#kept.length + bytes.length);
        setBytes(joined, this.#kept, 0);
        setBytes(joined, bytes, this.#kept.length);
        bytes = joined;
      }
      let keep = 0;
      if (stream) keep = this.#encoding === 'utf-8' ? unfinished(bytes) : this.#encoding === 'utf-16le' ? bytes.length % 2 : 0;
      this.#kept = new Uint8Array(subarray(bytes, bytes.length - keep));
      let text = this.#convert(subarray(bytes, 0, bytes.length - keep));
      if (!this.#started && !this.#ignoreBom && charCodeAt(text, 0) === 0xfeff) text = slice(text, 1);
      this.#started = stream && (this.#started || text.length > 0);
      return text;
    }
    #convert(bytes) {
      if (this.#encoding === 'utf-8') {
        const text = utf8Decode(bytes, this.#fatal);
        if (text === undefined) throw new TypeError('The encoded data was not valid for encoding utf-8');
        return text;
      }
      const parts = [];
      if (this.#encoding === 'utf-16le') {
        for (let i = 0; i + 1 < bytes.length; i += 2) push(parts, fromCharCode(bytes[i] | (bytes[i + 1] << 8)));
        if (bytes.length % 2) push(parts, '\ufffd');
      } else {
        for (let i = 0; i < bytes.length; i++) push(parts, bytes[i] >= 128 && bytes[i] < 160 ? CP1252[bytes[i] - 128] : fromCharCode(bytes[i]));
      }
      return join(parts, '');
    }
  }

  const crypto = {
    getRandomValues(array) {
      if (!includes(classOf(array) ?? '', 'Array') || includes(classOf(array), 'Float') || classOf(array) === 'Array') throw new TypeError('getRandomValues: a typed array of integers is needed');
      if (array.byteLength > 65536) throw new DOMException('At most 65536 bytes at once', 'QuotaExceededError');
      return fillRandom(array);
    },
    randomUUID() {
      const bytes = fillRandom(new Uint8Array(16));
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      let text = '';
      for (let i = 0; i < 16; i++) text += (i === 4 || i === 6 || i === 8 || i === 10 ? '-' : '') + padStart(numberText(bytes[i], 16), 2, '0');
      return text;
    },
  };

  shared.tag(TextEncoder, 'TextEncoder');
  shared.tag(TextDecoder, 'TextDecoder');
  shared.global('TextEncoder', TextEncoder);
  shared.global('TextDecoder', TextDecoder);
  shared.global('crypto', crypto);
})

/** Reading and writing of little-endian bytes; every read is bounds-checked, so that hostile bytes end in {@link Truncated}. */

export class Truncated extends Error {
  override readonly name = 'Truncated';
}

export class ByteWriter {
  #buffer: Uint8Array;
  #view: DataView;
  #length = 0;

  constructor(capacity = 256) {
    this.#buffer = new Uint8Array(capacity);
    this.#view = new DataView(this.#buffer.buffer);
  }

  #room(bytes: number): number {
    const at = this.#length;
    const need = at + bytes;
    if (need > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(need, this.#buffer.length * 2));
      grown.set(this.#buffer.subarray(0, at));
      this.#buffer = grown;
      this.#view = new DataView(grown.buffer);
    }
    this.#length = need;
    return at;
  }

  byte(value: number): void {
    const at = this.#room(1); // before the buffer is named: it may be replaced
    this.#buffer[at] = value;
  }
  u16(value: number): void {
    const at = this.#room(2);
    this.#view.setUint16(at, value, true);
  }
  u32(value: number): void {
    const at = this.#room(4);
    this.#view.setUint32(at, value, true);
  }
  double(value: number): void {
    const at = this.#room(8);
    this.#view.setFloat64(at, value, true);
  }
  varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.byte(rest);
  }
  raw(bytes: Uint8Array): void {
    const at = this.#room(bytes.length);
    this.#buffer.set(bytes, at);
  }
  /** Length as a varint, then the bytes. */
  block(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.raw(bytes);
  }
  finish(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }
}

export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    // A Buffer's slice() would be no copy.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get position(): number {
    return this.#at;
  }
  get remaining(): number {
    return this.#bytes.length - this.#at;
  }

  #take(bytes: number): number {
    const at = this.#at;
    if (bytes > this.remaining) throw new Truncated(`${bytes} bytes wanted at ${at}, ${this.remaining} left`);
    this.#at = at + bytes;
    return at;
  }

  byte(): number {
    return this.#view.getUint8(this.#take(1));
  }
  u16(): number {
    return this.#view.getUint16(this.#take(2), true);
  }
  u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }
  double(): number {
    return this.#view.getFloat64(this.#take(8), true);
  }
  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      if (scale > 2 ** 42) throw new Truncated('a varint is too long');
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }
  /** A count of items that take at least one byte each. */
  count(): number {
    const count = this.varint();
    if (count > this.remaining) throw new Truncated(`${count} items announced, ${this.remaining} bytes left`);
    return count;
  }
  raw(length: number): Uint8Array {
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }
  block(): Uint8Array {
    return this.raw(this.varint());
  }
}

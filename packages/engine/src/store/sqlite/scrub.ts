/**
 * Overwrites what SQLite has left of deleted rows in the free parts of pages.
 *
 * `secure_delete` zeroes a row where it lies, and pages that are freed. But when SQLite moves rows between pages, as a tree
 * grows, it may leave a copy of them in the part of a page that no row uses, and a delete does not find that one. So after a
 * purge every page of every tree is visited, and its free part is zeroed if it is not.
 *
 * Works on the file itself, while no connection of this process has it open and its WAL is empty. Changes no byte that belongs
 * to a row: a crash at any moment leaves a whole database. The form of pages: https://www.sqlite.org/fileformat2.html
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { FermataError } from '@fermata/protocol';

const INDEX_INTERIOR = 2;
const TABLE_INTERIOR = 5;
const INDEX_LEAF = 10;
const TABLE_LEAF = 13;
/** The first page begins with the header of the file. */
const FILE_HEADER = 100;

/** `roots`: the first pages of the trees. Tells how many pages it has changed. */
export function scrub(file: string, pageSize: number, roots: readonly number[]): number {
  const handle = openSync(file, 'r+');
  try {
    const changed = new Scrubber(handle, pageSize).visit([1, ...roots]);
    if (changed > 0) fsyncSync(handle);
    return changed;
  } finally {
    closeSync(handle);
  }
}

class Scrubber {
  readonly #handle: number;
  readonly #page: Buffer;
  readonly #zeros: Buffer;
  readonly #pages: number;

  constructor(handle: number, pageSize: number) {
    this.#handle = handle;
    this.#page = Buffer.alloc(pageSize);
    this.#zeros = Buffer.alloc(pageSize);
    this.#pages = fstatSync(handle).size / pageSize;
  }

  visit(roots: readonly number[]): number {
    const open = [...roots];
    let visited = 0;
    let changed = 0;
    for (let number = open.pop(); number !== undefined; number = open.pop()) {
      if (number < 1 || number > this.#pages || ++visited > this.#pages) throw damaged();
      const at = (number - 1) * this.#page.length;
      readSync(this.#handle, this.#page, 0, this.#page.length, at);
      const header = number === 1 ? FILE_HEADER : 0;
      this.#childrenInto(open, header);
      if (!this.#clean(header)) continue;
      writeSync(this.#handle, this.#page, 0, this.#page.length, at);
      changed++;
    }
    return changed;
  }

  #childrenInto(open: number[], header: number): void {
    const page = this.#page;
    if (page[header] !== INDEX_INTERIOR && page[header] !== TABLE_INTERIOR) return;
    open.push(page.readUInt32BE(header + 8));
    for (let i = page.readUInt16BE(header + 3) - 1; i >= 0; i--) {
      const cell = page.readUInt16BE(header + 12 + 2 * i);
      if (cell > page.length - 4) throw damaged();
      open.push(page.readUInt32BE(cell));
    }
  }

  /** Zeroes what no row of the page uses; false where that was so already. */
  #clean(header: number): boolean {
    const page = this.#page;
    const kind = page[header];
    if (kind !== INDEX_INTERIOR && kind !== TABLE_INTERIOR && kind !== INDEX_LEAF && kind !== TABLE_LEAF) throw damaged();
    const pointers = header + (kind === INDEX_INTERIOR || kind === TABLE_INTERIOR ? 12 : 8);
    const from = pointers + 2 * page.readUInt16BE(header + 3);
    const to = page.readUInt16BE(header + 5) || 65536;
    if (from > to || to > page.length) throw damaged();
    let changed = this.#zero(from, to);
    for (let block = page.readUInt16BE(header + 1); block !== 0; ) {
      const next = block > page.length - 4 ? 0 : page.readUInt16BE(block);
      const end = block + page.readUInt16BE(block + 2);
      if (end > page.length || (next !== 0 && next < end)) throw damaged();
      changed = this.#zero(block + 4, end) || changed;
      block = next;
    }
    return changed;
  }

  #zero(from: number, to: number): boolean {
    if (from >= to || this.#page.compare(this.#zeros, 0, to - from, from, to) === 0) return false;
    this.#page.fill(0, from, to);
    return true;
  }
}

function damaged(): FermataError {
  return new FermataError('store_failed', 'the database is damaged: its trees have pages that do not fit', { hint: 'move the folder away and restore the last backup' });
}

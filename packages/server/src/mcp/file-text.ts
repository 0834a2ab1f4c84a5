/** Bytes as text, where they are text. */

/** Undefined where they are not UTF-8, or have a zero, as binary formats do. */
export function textIn(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Where a piece that begins at `start` ends, at most `most` bytes on, so that no character of a text is cut. */
export function endOfPiece(bytes: Uint8Array, start: number, most: number): number {
  const end = Math.min(bytes.length, start + most);
  if (end === bytes.length) return end;
  let at = end;
  // Continuation bytes are 10xxxxxx; no character has more than three of them.
  while (at > start && end - at < 4 && ((bytes[at] as number) & 0xc0) === 0x80) at--;
  return at > start && ((bytes[at] as number) & 0xc0) !== 0x80 ? at : end;
}

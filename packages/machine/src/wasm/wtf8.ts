/** Strings as UTF-8 in which a lone surrogate stands as its own three bytes (WTF-8), so that every string has a form. */

const encoder = new TextEncoder();
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function encodeString(text: string): Uint8Array {
  return text.isWellFormed() ? encoder.encode(text) : encodeLoose(text);
}

export function decodeString(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return decodeLoose(bytes);
  }
}

function encodeLoose(text: string): Uint8Array {
  const out = new Uint8Array(text.length * 3);
  let length = 0;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (code >= 0xd800 && code <= 0xdfff) {
      out[length++] = 0xe0 | (code >> 12);
      out[length++] = 0x80 | ((code >> 6) & 0x3f);
      out[length++] = 0x80 | (code & 0x3f);
    } else {
      length += encoder.encodeInto(character, out.subarray(length)).written;
    }
  }
  return out.subarray(0, length);
}

/** Anything that is neither UTF-8 nor a surrogate's three bytes becomes U+FFFD, as a browser would have it. */
function decodeLoose(bytes: Uint8Array): string {
  const lossy = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  let plain = 0;
  for (let i = 0; i + 2 < bytes.length; i++) {
    const [a, b, c] = [bytes[i] as number, bytes[i + 1] as number, bytes[i + 2] as number];
    if (a !== 0xed || b < 0xa0 || b > 0xbf || (c & 0xc0) !== 0x80) continue;
    text += lossy.decode(bytes.subarray(plain, i)) + String.fromCharCode(0xd000 | ((b & 0x3f) << 6) | (c & 0x3f));
    i += 2;
    plain = i + 1;
  }
  return text + lossy.decode(bytes.subarray(plain));
}

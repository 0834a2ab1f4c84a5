/** Output of programs in journals: text where the bytes are text, else base64. */

const decoder = new TextDecoder('utf-8', { fatal: true });

export function wireOfOutput(bytes: Uint8Array): { text: string } | { base64: string } {
  try {
    return { text: decoder.decode(bytes) };
  } catch {
    return { base64: Buffer.from(bytes).toString('base64') };
  }
}

export function bytesOfOutput(wire: { text?: string; base64?: string }): Buffer {
  return wire.text === undefined ? Buffer.from(wire.base64 ?? '', 'base64') : Buffer.from(wire.text);
}

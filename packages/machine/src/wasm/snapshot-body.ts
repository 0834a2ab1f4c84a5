/**
 * What a container holds of a machine: the owner's attachment, the state, and the pages that differ from the base.
 *
 * Hostile bytes end here as `checkpoint_invalid`.
 */
import { FermataError } from '@fermata/protocol';
import { ByteReader, ByteWriter } from './bytes.ts';
import { type MachineState, stateFromValue, stateToValue } from './machine-state.ts';
import { type Region, readPages, writePages } from './pages.ts';
import { decodeValue, encodeValue, MAX_CARRIER_DEPTH } from './value-codec.ts';

/** A machine's memory, and what of it is not worth keeping. */
export interface BodyMemory {
  memory: Uint8Array;
  base: Uint8Array;
  /** Sorted, without overlap. */
  dead: readonly Region[];
}

export function encodeState(state: MachineState): Uint8Array {
  return encodeValue(stateToValue(state), 'state', MAX_CARRIER_DEPTH);
}

/** What the owner of a machine may attach. It is copied when it is read, so it counts twice. */
const MAX_ATTACHMENT = 256 * 1024 * 1024;

export function writeBody(attachment: Uint8Array, state: MachineState, { memory, base, dead }: BodyMemory): Uint8Array {
  if (attachment.length > MAX_ATTACHMENT) {
    throw new FermataError(
      'checkpoint_too_large',
      `the program, its files, and the arguments and answers of its calls take more than ${MAX_ATTACHMENT} bytes, which is more than a snapshot may hold besides the machine`,
    );
  }
  const writer = new ByteWriter(64 * 1024);
  writer.block(attachment);
  writer.block(encodeState(state));
  writePages(writer, memory, base, dead);
  return writer.finish();
}

export interface SnapshotBody {
  attachment: Uint8Array;
  state: MachineState;
  /** Turns a memory that holds the base, and is as large as `state.pages` says, into the machine's. */
  applyTo(memory: Uint8Array): void;
}

export function readBody(bytes: Uint8Array): SnapshotBody {
  const reader = new ByteReader(bytes);
  const { attachment, state } = readable(() => ({ attachment: attached(reader.block()), state: stateFromValue(decodeValue(reader.block())) }));
  const applyTo = (memory: Uint8Array) => {
    readable(() => readPages(reader, memory));
    if (reader.remaining > 0) throw new FermataError('checkpoint_invalid', 'the snapshot goes on after its end');
  };
  return { attachment, state, applyTo };
}

function attached(block: Uint8Array): Uint8Array {
  if (block.length > MAX_ATTACHMENT) throw new FermataError('checkpoint_invalid', `the snapshot has more than ${MAX_ATTACHMENT} bytes attached`);
  return block.slice();
}

/** Whatever goes wrong while a body is read, the snapshot is what is wrong. */
export function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof FermataError) throw cause;
    throw new FermataError('checkpoint_invalid', 'the snapshot cannot be read', { cause });
  }
}

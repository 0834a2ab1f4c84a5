/** What goes between a {@link ThreadHost} and its Workers. Errors cross as plain records and are rebuilt. */
import {
  type Budget,
  type Emission,
  type ErrorCode,
  FermataError,
  type HostedOutcome,
  type ImageName,
  type Input,
  type Limits,
  type OpenOptions,
  type Report,
  type SealOptions,
} from '@fermata/protocol';
import type { ImageParts } from '../wasm/image.ts';

export type ToThread =
  | { op: 'image'; name: ImageName; parts: ImageParts }
  | { op: 'prepare'; request: number; image: ImageName }
  /** Not answered: what goes wrong is told as `lost`. */
  | { op: 'create'; id: number; image: ImageName; limits: Limits }
  | { op: 'restore'; request: number; id: number; image: ImageName; snapshot: Uint8Array; open: OpenOptions }
  | { op: 'advance'; id: number; input: Input; budget: Budget }
  | { op: 'stop'; id: number }
  | { op: 'checkpoint'; request: number; id: number; seal: SealOptions; ground: string | null }
  | { op: 'snapshot'; request: number; id: number; seal: SealOptions | undefined; attachment: Uint8Array }
  | { op: 'hash'; request: number; id: number }
  | { op: 'inspect'; request: number; id: number }
  | { op: 'readFile'; request: number; id: number; path: string }
  | { op: 'files'; request: number; id: number }
  | { op: 'dispose'; id: number };

export type FromThread =
  | { kind: 'answer'; request: number; value: unknown }
  | { kind: 'refused'; request: number; error: PlainError }
  | { kind: 'emitted'; id: number; emitted: Emission[]; report: Report }
  /** `emitted`: what was not told before. */
  | { kind: 'outcome'; id: number; outcome: HostedOutcome; emitted: Emission[]; report: Report }
  | { kind: 'lost'; id: number; error: PlainError; report: Report };

/** Of a machine that has just been made. */
export const NEW_REPORT: Report = {
  usage: { fuel: 0, memoryBytes: 0, peakMemoryBytes: 0, diskBytes: 0, outputBytes: 0, calls: 0 },
  cpuMs: 0,
  position: null,
};

export interface PlainError {
  code: ErrorCode;
  message: string;
  hint: string | undefined;
}

export function plainError(error: unknown): PlainError {
  if (error instanceof FermataError) return { code: error.code, message: error.message, hint: error.hint };
  return { code: 'internal', message: error instanceof Error ? (error.stack ?? error.message) : String(error), hint: undefined };
}

export function fromPlainError({ code, message, hint }: PlainError): FermataError {
  return new FermataError(code, message, hint === undefined ? {} : { hint });
}

/** The contract of a tool source: something outside that tells which tools it has, and carries out their calls. */
import type { FermataError } from '@fermata/protocol';
import type { AddressGuard } from '../net/address-guard.ts';
import type { Tool } from '../tool.ts';
import type { SecretLookup } from './secret-headers.ts';

export type SourceKind = 'mcp' | 'openapi';

export interface SourceTool {
  /** Named `<source>.<tool>`. */
  tool: Tool;
  /** What the source itself calls it. */
  originalName: string;
}

export interface ToolSource {
  readonly kind: SourceKind;
  /** What it has is asked anew in each process; else a listing that was kept is enough. */
  readonly changes: boolean;
  /** What tools there are, as JSON that can be kept. Throws `source_failed`, or `invalid_request` where it can never work. */
  list(): Promise<unknown>;
  /** Throws `invalid_request` where no tools can be made of a listing. */
  toolsOf(listing: unknown): SourceTool[];
  close(): Promise<void>;
}

export interface SourceContext {
  guard: AddressGuard;
  /** The value of a secret that a definition names. */
  secret?: SecretLookup | undefined;
  /** Its tools may be others than before. */
  onChanged?: () => void;
  /** It cannot be reached any more, or can again. */
  onState?: (state: 'connected' | 'failed', why?: FermataError) => void;
}

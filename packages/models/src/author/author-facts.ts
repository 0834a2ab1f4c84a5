/** What a prompt is made of: values that whoever asks has gathered. */
import type { Language, Limits, ModelMessage, NetworkAccess } from '@fermata/protocol';
import type { StubTool } from '@fermata/tools/stubs';

export interface AuthorFacts {
  /** What is asked for, or a conversation whose last message is to be answered. */
  instruction?: string | undefined;
  messages?: readonly ModelMessage[] | undefined;
  /** The language that the program is to be in; absent where the model chooses. */
  language?: Language | undefined;
  /** All that the program may call. */
  tools: readonly StubTool[];
  allowedLibraries?: readonly string[] | undefined;
  requiredLibraries?: readonly string[] | undefined;
  blockedCommands?: readonly string[] | undefined;
  strict?: boolean | undefined;
  network?: NetworkAccess | undefined;
  limits: Limits;
  /** Wire forms. */
  input?: unknown;
  stdin?: unknown;
  /** Paths. */
  files: readonly string[];
  /** Whether the program runs where those of earlier tasks have left their variables. */
  sharedInterpreter: boolean;
  /** Of the same session, oldest first. */
  earlier: readonly EarlierTask[];
}

export interface EarlierTask {
  /** Its instruction, or the beginning of its program. */
  asked: string;
  /** Its answer, its result or its error. */
  came: string;
}

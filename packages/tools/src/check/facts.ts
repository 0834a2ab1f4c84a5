/** What is known of a program from its text alone, in the same words for every language. */

/** A value that stands in the text; absent where it is made when the program runs. */
export type Constant = { value: unknown } | undefined;

/** Offset in the text, in UTF-16 units. */
export type Offset = number;

export interface ImportFact {
  /** As it is written, with dots. */
  module: string;
  at: Offset;
  /** A failure of it is caught. */
  guarded: boolean;
}

/** A place that would start another process. */
export interface ProcessFact {
  /** What starts it, like `os.system`. */
  by: string;
  at: Offset;
  /** The command: a shell's text, or the program and its arguments; absent where it is not known. */
  command?: string | string[];
}

/** A use of what `strict` refuses. */
export interface ReachFact {
  name: string;
  at: Offset;
}

/** The arguments of a tool call, as the text gives them. */
export interface GivenArguments {
  /** Values by position; a record given as the only one is in `named` instead. */
  positional: Constant[];
  named: Map<string, { value: Constant; at: Offset }>;
  /** There are more that the text does not name. */
  open: boolean;
}

export interface ToolCallFact {
  /** The tool's name as it is written: `crm.find`. */
  path: string;
  at: Offset;
  args: GivenArguments;
  /** It starts the tool and nothing waits for its result. */
  unawaited: boolean;
  /** A failure of it may be caught, as far as the text tells. */
  guarded: boolean;
}

export interface NetworkFact {
  by: string;
  at: Offset;
}

export interface ProgramFacts {
  imports: ImportFact[];
  processes: ProcessFact[];
  reaches: ReachFact[];
  /** Empty where `tools` means something else in this program. */
  toolCalls: ToolCallFact[];
  network: NetworkFact[];
  /** What does not parse: then the facts may be incomplete. */
  unparsed?: { message: string; at: Offset };
}

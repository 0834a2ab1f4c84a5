/** What of a tool a stub tells. */
export interface StubTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
  readonly result?: Record<string, unknown> | undefined;
}

/** What goes between a host and a child process, besides the messages of the Worker in it. */
import type { ImageName } from '@fermata/protocol';
import type { FromThread, PlainError, ToThread } from './thread-messages.ts';

export type ToChild = { to: 'thread'; message: ToThread } | { to: 'child'; give: ImageName };

export type FromChild =
  | { from: 'thread'; message: FromThread }
  | { from: 'child'; given: ImageName; error: PlainError | undefined }
  /** The child is alive; `turnMs`: how long the present turn of a machine lasts, 0 between turns. */
  | { from: 'child'; beat: true; turnMs: number }
  | { from: 'child'; threadGone: string };

/**
 * The contract of a port: the way to one Worker that runs machines, in this process or in a child process.
 *
 * A port carries messages in order. It ends once, by `gone`, and nothing arrives after that.
 */
import type { ImageName } from '@fermata/protocol';
import type { FromThread, ToThread } from './thread-messages.ts';

export interface Port {
  /** Has the Worker load the image; later messages may name it. Rejects if the image cannot be had. */
  give(image: ImageName): Promise<void>;
  send(message: ToThread): void;
  /** Whether somebody waits for this Worker, so that the process must not end. */
  hold(awaited: boolean): void;
  close(): Promise<void>;
}

/** Why a Worker ended. */
export interface Death {
  message: string;
  /** The machine that had its turn, as far as is known. */
  suspect: number | undefined;
  /** Whether the Worker, or its process, broke down by itself; otherwise somebody ended it. */
  brokeDown: boolean;
}

export interface PortEvents {
  message(message: FromThread): void;
  gone(death: Death): void;
}

export type OpenPort = (events: PortEvents) => Port;

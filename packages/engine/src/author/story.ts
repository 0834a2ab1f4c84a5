/** What a task's model was asked and has replied so far, as the journal tells it. */
import type { ModelReply, Store, TaskFault, TaskRef } from '@fermata/protocol';
import type { CheckFinding } from '../engine-options.ts';
import { type AskPhase, bodyOf, type EntryBodies } from '../journal.ts';
import { readJournal } from '../replay.ts';

export type Ask = EntryBodies['model_asked'];
export interface Replied {
  ask: Ask;
  reply: ModelReply;
}
export interface KnownFault {
  error: TaskFault;
  findings?: readonly CheckFinding[];
  printed?: string;
}

export interface Story {
  /** How often the model was asked. */
  asks: number;
  /** How often it has looked something up. */
  looks: number;
  repairs: number;
  /** Asked, and not replied to. */
  open: Ask | undefined;
  /** The newest reply, where nothing has come of it yet. */
  unread: Replied | undefined;
  /** The newest reply to a request for a program. */
  written: Replied | undefined;
  /** What went back to the model last. */
  fault: KnownFault | undefined;
  /** The answer could not be asked for. */
  answerFailed: boolean;
  /** Tokens that were spent when the task was paused for them last. */
  grantedFrom: number;
}

export async function readStory(store: Store, ref: TaskRef): Promise<Story> {
  const story: Story = { asks: 0, looks: 0, repairs: 0, open: undefined, unread: undefined, written: undefined, fault: undefined, answerFailed: false, grantedFrom: 0 };
  for await (const entry of readJournal(store, ref)) {
    const asked = bodyOf(entry, 'model_asked');
    const replied = bodyOf(entry, 'model_replied');
    const repair = bodyOf(entry, 'repair');
    if (asked) {
      story.asks = asked.n;
      // From a reply to the next request without anything between leads only what the model wanted to know.
      if (story.unread) story.looks++;
      Object.assign(story, { open: asked, unread: undefined });
    } else if (replied && replied.n === story.open?.n) {
      const { n: _, ...reply } = replied;
      story.unread = { ask: story.open, reply };
      story.open = undefined;
      if (isWriting(story.unread.ask.phase)) story.written = story.unread;
    } else if (repair) {
      story.repairs = repair.repair;
      const { error, findings, printed } = repair;
      story.fault = { error, ...(findings ? { findings } : {}), ...(printed === undefined ? {} : { printed }) };
      story.unread = undefined;
    } else if (entry.kind === 'program') story.unread = undefined;
    else if (entry.kind === 'model_failed') Object.assign(story, { answerFailed: true, open: undefined });
    story.grantedFrom = bodyOf(entry, 'over_budget')?.tokens ?? story.grantedFrom;
  }
  return story;
}

function isWriting(phase: AskPhase): boolean {
  return phase !== 'answering';
}

/** `fermata resume <snapshot file>`: a task in memory goes on from a file. */
import { FermataError, type Value } from '@fermata/protocol';
import { createFermata } from '../fermata.ts';
import { sealKey } from '../seal-key-file.ts';
import { driveTask, showEvents } from './drive.ts';
import { type OpenToolsFile, openToolsFile } from './open-tools-file.ts';
import { Progress } from './progress.ts';
import { readBytes } from './read-input.ts';
import { approver, networkOf, type ResumeOptions } from './task-options.ts';

/** Resolves with the exit code. */
export async function resumeSnapshot(file: string, options: ResumeOptions): Promise<number> {
  const json = options.json === true;
  const bytes = await readBytes(file);
  const progress = new Progress(options.quiet === true || json);
  let equipment: OpenToolsFile | undefined;
  await using fermata = createFermata({ sealKey });
  await using _ = { [Symbol.asyncDispose]: async () => equipment?.[Symbol.asyncDispose]() };
  const task = await fermata.restore(bytes, {
    ...approver(options.approve, progress),
    trust: options.trust === true,
    tools: async (label) => {
      equipment = await toolsFor(label, options);
      return [...equipment.tools, ...(await networkOf(options))];
    },
    onEvent: showEvents({ json, progress }),
  });
  if (options.redo) for (const { callId, kind } of task.waitingFor) if (kind === 'outcome_unknown') task.retry(callId);
  return await driveTask(task, { json, pauseAfterMs: options.pauseAfter, progress });
}

/** Those of `--tools`, else of the file that the snapshot names. One that is not sealed must not choose code that is loaded here. */
async function toolsFor(label: Value, { tools, trust }: ResumeOptions): Promise<OpenToolsFile> {
  if (tools !== undefined) return openToolsFile(tools);
  const named = (label as { tools?: unknown } | null)?.tools;
  if (typeof named !== 'string') return openToolsFile(undefined);
  if (!trust) return openToolsFile(named);
  throw new FermataError('tools_missing', `the snapshot wants the tools of ${JSON.stringify(named)}, and with --trust it does not choose what is loaded`);
}

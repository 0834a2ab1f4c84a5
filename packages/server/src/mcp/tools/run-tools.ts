/** Running programs, and checking them without running. */
import { randomBytes } from 'node:crypto';
import { strictOptions } from '@fermata/protocol/schemas';
import { type ConstraintsWire, idSchema, languageSchema, nameSchema, valueSchema } from '@fermata/protocol/wire';
import { z } from 'zod';
import { AskingEnded, followTask } from '../follow-task.ts';
import { type McpRequest, mcpTool, type NewTask } from '../mcp-tool.ts';
import { withoutUndefined } from '../present.ts';
import { shownTaskSchema, tellTask } from '../shown-task.ts';

const WAIT_SECONDS = 20;
const CANCEL_SECONDS = 5;
const ANY_HOST = '*';

const program = {
  language: languageSchema,
  code: z
    .string()
    .min(1)
    .max(1_000_000)
    .describe('The program. Its result is what JavaScript and TypeScript `return`, and in Python the value of the last expression. What it prints is kept too.'),
  tools: z.array(nameSchema).max(1000).optional().describe('Names or patterns of the tools that it may call, such as "crm.*". Default: all'),
  network: z
    .array(z.string().min(1).max(512))
    .max(100)
    .optional()
    .describe(
      'Hosts that it may reach with fetch (JavaScript) or urllib and requests (Python), such as "api.example.com" or "*.example.com". "*", for all public hosts, only where the server allows it. Default: none',
    ),
};

const runInput = strictOptions({
  ...program,
  input: valueSchema.optional().describe('Any JSON, which the program has as `input` (JavaScript) or `task_input` (Python)'),
  stdin: z.string().max(1_000_000).optional().describe('Text on its standard input (Python)'),
  files: z
    .array(strictOptions({ file_id: nameSchema, path: z.string().max(1000).describe('Such as /work/data.csv') }))
    .max(100)
    .optional()
    .describe('Files of upload_file, or that other tasks left, to put into /work or /tmp. What it leaves in /work comes back as files of the task'),
  session_id: nameSchema.optional().describe('Programs with the same session id share one interpreter: variables of one are there in the next'),
  limits: strictOptions({
    timeout_seconds: z.number().min(0.01).max(31_536_000).optional().describe('Time it may run, tools included; waiting for people does not count'),
    max_cpu_seconds: z.number().min(0.01).max(31_536_000).optional(),
    max_memory_mb: z.number().min(1).max(3072).optional(),
    max_disk_mb: z.number().min(0).max(2048).optional(),
    max_output_bytes: z.int().min(0).max(1_000_000_000).optional(),
    max_tool_calls: z.int().min(0).max(1_000_000_000).optional(),
  }).optional(),
  task_id: idSchema.optional().describe('An id of your own for the task; the same id with the same program is the same task'),
  wait_seconds: z.number().min(0).max(600).default(WAIT_SECONDS).describe('How long to wait for its end; 0 starts it only. A program that takes longer goes on'),
});

const runCode = mcpTool({
  name: 'run_code',
  title: 'Run a program',
  description: `Runs a program in Python, JavaScript or TypeScript in an isolated machine and returns its result, what it printed and the files it left.
Tools are called as functions: tools.name(arg=1) in Python, await tools.name({ arg: 1 }) in JavaScript; search_tools and describe_tools say which there are. \
Write one program that calls many tools, rather than running one program for each call.
If it has not ended after wait_seconds, or waits for an approval, the answer says so with its task_id: follow it with get_task, stop it with pause_task or cancel_task. \
A program that fails is an error with its line and traceback: mend it and run it again. Cancelling this request cancels the task.`,
  scope: 'run',
  destructive: true,
  openWorld: true,
  input: runInput,
  output: shownTaskSchema,
  async perform({ wait_seconds: waitSeconds, ...asked }, request) {
    const task = await request.equip(taskOf(asked));
    try {
      const { task_id: taskId } = await request.client.tasks.create(task, request.signal);
      request.signal.throwIfAborted();
      return tellTask(await followTask(request, taskId, waitSeconds), { failed: true });
    } catch (error) {
      if (request.signal.aborted && !(error instanceof AskingEnded)) await giveUp(request, task.task_id);
      throw error;
    }
  },
});

/** Of a request that was taken back nobody knows the task. One whose connection is gone can be asked about later. */
async function giveUp({ client, isWithdrawn }: McpRequest, taskId: string): Promise<void> {
  if (!isWithdrawn()) return;
  // It may have ended meanwhile, or was never submitted.
  await client.tasks.cancel(taskId, { wait_seconds: CANCEL_SECONDS }).catch(() => {});
}

const checkCode = mcpTool({
  name: 'check_code',
  title: 'Check a program without running it',
  description: 'Says what is wrong with a program before it runs: syntax, unknown tools, wrong argument names, missing libraries, each with line and column. Nothing of it runs.',
  scope: 'read',
  readOnly: true,
  idempotent: true,
  input: strictOptions(program),
  output: z.object({
    ok: z.boolean().describe('It can be run'),
    findings: z.array(z.object({ rule: z.string(), severity: z.string(), line: z.number(), column: z.number(), message: z.string() })),
  }),
  async perform({ network, tools, ...rest }, { client }) {
    const checked = await client.check({ ...rest, ...(tools === undefined ? {} : { tools }), ...constraintsOf(undefined, network) });
    const lines = checked.findings.map(({ severity, line, column, message, rule }) => `${severity} ${rule}, line ${line}, column ${column}: ${message}`);
    return { value: checked, text: lines.join('\n') || 'nothing is wrong with it' };
  },
});

function taskOf({ limits, network, session_id, task_id = `task_${randomBytes(10).toString('hex')}`, ...rest }: Omit<z.output<typeof runInput>, 'wait_seconds'>): NewTask {
  return {
    ...({ ...withoutUndefined(rest), task_id } as NewTask),
    ...(session_id === undefined ? {} : { session_id, shared_interpreter: true }),
    ...constraintsOf(limits, network),
  };
}

function constraintsOf(limits: ConstraintsWire | undefined, network: string[] | undefined): { tool_constraints?: ConstraintsWire } {
  const constraints: ConstraintsWire = { ...limits, ...(network === undefined ? {} : { network_access: network.includes(ANY_HOST) ? true : network }) };
  return Object.keys(constraints).length === 0 ? {} : { tool_constraints: constraints };
}

export const runTools = [runCode, checkCode];

/**
 * The commands there are. What a command needs is loaded when it is the one that was given, and not before: starting the
 * command line costs as much as that command, not as much as all of them.
 */
import type { Command } from 'commander';

interface CommandEntry {
  /** One line of `fermata --help`. */
  about: string;
  /** Loads what gives the command its options and its action; `done` is told the exit code. */
  load: () => Promise<(command: Command, done: (exitCode: number) => void) => void>;
}

/** In the order in which help lists them. */
export const COMMANDS: Record<string, CommandEntry> = {
  run: {
    about: 'run a program in a sandbox; its output and result go to stdout, all else to stderr',
    load: async () => (await import('./run-command.ts')).addRunCommand,
  },
  ask: { about: 'have a model write the program that does what you say, run it, and answer', load: async () => (await import('./ask-command.ts')).addAskCommand },
  check: { about: 'say what is wrong with a program, without running it', load: async () => (await import('./check-command.ts')).addCheckCommand },
  resume: { about: 'go on with a task, or with a program from its snapshot file', load: async () => (await import('./resume-command.ts')).addResumeCommand },
  task: { about: 'durable tasks: look at them, pause and resume them, decide on their calls', load: async () => (await import('./task-command.ts')).addTaskCommand },
  session: { about: 'interpreters that tasks share', load: async () => (await import('./session-command.ts')).addSessionCommand },
  batch: { about: 'many tasks at once', load: async () => (await import('./batch-command.ts')).addBatchCommand },
  tool: { about: 'tools that programs may call', load: async () => (await import('./tool-command.ts')).addToolCommand },
  policy: { about: 'rules for tool calls', load: async () => (await import('./policy-command.ts')).addPolicyCommand },
  serve: { about: 'serve the REST API over the data folder', load: async () => (await import('./serve-command.ts')).addServeCommand },
  mcp: { about: 'an MCP server on standard input and output, for clients that models use', load: async () => (await import('./mcp-command.ts')).addMcpCommand },
  key: { about: 'API keys of the server over the data folder', load: async () => (await import('./key-command.ts')).addKeyCommand },
  store: { about: 'the data folder: copies of it, and its size', load: async () => (await import('./store-command.ts')).addStoreCommand },
  image: { about: 'the interpreters that programs run on', load: async () => (await import('./image-command.ts')).addImageCommand },
  doctor: { about: 'say what this machine can do, and why not', load: async () => (await import('./doctor-command.ts')).addDoctorCommand },
};

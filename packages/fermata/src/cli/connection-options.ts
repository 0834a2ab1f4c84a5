/** The options of every command that reaches tasks. */
import type { Command } from 'commander';

export interface ConnectionOptions {
  url?: string;
  key?: string;
  data?: string;
  json?: boolean;
}

/** `json`: it can print JSON. */
export function addConnectionOptions(command: Command, { json = true } = {}): Command {
  command
    .option('--url <url>', 'of the server to talk to (default: FERMATA_URL, else the data folder)')
    .option('--key <key>', 'API key for that server (default: FERMATA_KEY)')
    .option('--data <folder>', 'data folder (default: FERMATA_DATA_DIR, else that of the user)');
  return json ? command.option('--json', 'print one JSON object') : command;
}

/** The limits as options of a command: names, units and bounds come from the table of limits. */
import { LIMIT_BOUNDS, LIMITS, type LimitsInput, type LimitWords } from '@fermata/protocol';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { formatDuration, parseCount, parseDuration, parseMebibytes } from './units.ts';

const UNITS: Record<LimitWords['unit'], { parse: (text: string) => number; format: (value: number) => string }> = {
  duration: { parse: parseDuration, format: formatDuration },
  MiB: { parse: parseMebibytes, format: (bytes) => `${bytes / 1024 / 1024} MiB` },
  bytes: { parse: parseCount, format: String },
  n: { parse: parseCount, format: String },
};

/** Adds an option for each limit; its value is found under the limit's name in the library. */
export function addLimitOptions(command: Command): Command {
  for (const { option, flag, unit, counts } of Object.values(LIMITS)) {
    const described = `${counts.replaceAll('`', '')} (default: ${UNITS[unit].format(LIMIT_BOUNDS[option].default)})`;
    command.addOption(withName(new Option(`${flag} <${unit}>`, described), option).argParser((text) => bounded(option, unit, text)));
  }
  return command;
}

/** The limits among the options of a command. */
export function limitsOf(options: LimitsInput): LimitsInput {
  return Object.fromEntries(Object.values(LIMITS).map(({ option }) => [option, options[option]]));
}

/** commander would name the value after the flag. */
function withName(option: Option, name: string): Option {
  option.attributeName = () => name;
  return option;
}

function bounded(option: LimitWords['option'], unit: LimitWords['unit'], text: string): number {
  const { parse, format } = UNITS[unit];
  const value = parse(text);
  const { least, most } = LIMIT_BOUNDS[option];
  if (value < least) throw new InvalidArgumentError(`The least is ${format(least)}.`);
  if (value > most) throw new InvalidArgumentError(`The most is ${format(most)}.`);
  return value;
}

/** The limits as options of a command: names, units and bounds come from the table of limits. */
import { LIMITS, type LimitsInput, type LimitWords, limitsSchema } from '@fermata/protocol';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { formatDuration, parseCount, parseDuration, parseMebibytes } from './units.ts';

const UNITS: Record<LimitWords['unit'], { parse: (text: string) => number; format: (value: number) => string }> = {
  duration: { parse: parseDuration, format: formatDuration },
  MiB: { parse: parseMebibytes, format: (bytes) => `${bytes / 1024 / 1024} MiB` },
  bytes: { parse: parseCount, format: String },
  n: { parse: parseCount, format: String },
};

const shape = limitsSchema.unwrap().shape;

/** Adds an option for each limit; its value is found under the limit's name in the library. */
export function addLimitOptions(command: Command): Command {
  for (const { option, flag, unit, counts } of Object.values(LIMITS)) {
    const described = `${counts.replaceAll('`', '')} (default: ${UNITS[unit].format(shape[option].parse(undefined))})`;
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
  const { minValue, maxValue } = shape[option].unwrap();
  if (value < (minValue as number)) throw new InvalidArgumentError(`The least is ${format(minValue as number)}.`);
  if (value > (maxValue as number)) throw new InvalidArgumentError(`The most is ${format(maxValue as number)}.`);
  return value;
}

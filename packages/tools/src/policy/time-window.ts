/** Whether a moment is within what a rule says of time. */
import { type PolicyTime, WEEKDAYS, type Weekday } from '@fermata/protocol';

const DAY_MINUTES = 24 * 60;
const formats = new Map<string, Intl.DateTimeFormat>();

export function timeFits({ from, to, days, zone = 'UTC', after, before }: PolicyTime, now: number): boolean {
  if (after !== undefined && now < Date.parse(after)) return false;
  if (before !== undefined && now >= Date.parse(before)) return false;
  if (from === undefined && days === undefined) return true;
  const { day, minute } = localTime(now, zone);
  const [start, end] = [minutesOf(from ?? '00:00'), from === undefined ? DAY_MINUTES : minutesOf(to as string)];
  const isOn = (weekday: Weekday) => days === undefined || days.includes(weekday);
  if (start < end) return minute >= start && minute < end && isOn(day);
  const dayBefore = WEEKDAYS[(WEEKDAYS.indexOf(day) + 6) % 7] as Weekday;
  return (minute >= start && isOn(day)) || (minute < end && isOn(dayBefore));
}

/** As `mon 09:30`. */
export function toldTime(now: number, zone = 'UTC'): string {
  const { day, minute } = localTime(now, zone);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${day} ${two(Math.floor(minute / 60))}:${two(minute % 60)} (${zone})`;
}

function localTime(now: number, zone: string): { day: Weekday; minute: number } {
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en-US', { timeZone: zone, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  formats.set(zone, format);
  const parts = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]));
  return { day: (parts.weekday as string).toLowerCase() as Weekday, minute: Number(parts.hour) * 60 + Number(parts.minute) };
}

function minutesOf(clock: string): number {
  const [hours, minutes] = clock.split(':').map(Number);
  return (hours as number) * 60 + (minutes as number);
}

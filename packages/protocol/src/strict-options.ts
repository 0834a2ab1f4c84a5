/** Schemas of options: a key that they do not know is refused, and the refusal names the key that was probably meant. */
import { z } from 'zod';
import { LONGEST_NAME, nearestName } from './options.ts';

/** An object with these keys and no others. */
export function strictOptions<S extends z.ZodRawShape>(shape: S): z.ZodObject<S, z.core.$strict> {
  const unknown = (key: string) => {
    const near = nearestName(key, Object.keys(shape));
    return `there is no ${JSON.stringify(key.slice(0, LONGEST_NAME))}${near === undefined ? `; there is ${Object.keys(shape).join(', ')}` : `; did you mean ${JSON.stringify(near)}?`}`;
  };
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? unknown(issue.keys[0] as string) : undefined) });
}

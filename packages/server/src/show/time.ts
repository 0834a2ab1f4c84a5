/** Milliseconds since 1970 as the wire has them. */
export const showTime = (ms: number) => new Date(ms).toISOString();
export const showMaybeTime = (ms: number | null) => (ms === null ? null : showTime(ms));

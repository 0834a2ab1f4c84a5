/** Texts that are too long for a prompt. */

/** The beginning, with a note of how much is missing; whole where it is no longer than `most` characters. */
export function cutText(text: string, most: number, note = ''): string {
  if (text.length <= most) return text;
  return `${whole(text.slice(0, most))}\n[cut: ${text.length - most} of ${text.length} characters are missing here${note}]`;
}

/** The end of it, which says most of a traceback or of what was printed last. */
export function cutStart(text: string, most: number): string {
  if (text.length <= most) return text;
  return `[cut: ${text.length - most} of ${text.length} characters are missing here]\n${text.slice(-most).replace(/^[\uDC00-\uDFFF]/, '')}`;
}

/** Without half of a pair of surrogates at its end. */
function whole(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '');
}

/** Sentences of messages that are put together from others' words. */

/** Without the full stop at its end, so that more can follow. */
export function withoutStop(text: string): string {
  return text.replace(/\.$/, '')
}

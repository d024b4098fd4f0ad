/** What a Host leaves out now: in turns of a few seconds nothing, rows, statements, and both. */
import type { HostFrame } from '../../../../src/follow/host-frames.ts'

type Kind = HostFrame['kind']

const turnMs = 3_000
const turns: readonly (readonly Kind[])[] = [
  [],
  ['rows'],
  [],
  ['statement'],
  [],
  ['rows', 'statement'],
]

export function isWithheld(kind: Kind): boolean {
  return turns[Math.floor(performance.now() / turnMs) % turns.length]?.includes(kind) ?? false
}

/**
 * Which of the accepted signers count: those that were heard lately, and of those that catch up themselves
 * only where too few others were. Where nobody was, what they said last is followed, as far as nothing stored has to
 * give way to it. Times are of a monotonic clock in milliseconds.
 */

/** The newest head of a signer, as far as it is counted. */
interface SignerHead {
  readonly number: number
  readonly hash: string
  /** Height of the head of the signer's node. */
  readonly nodeHeight: number
}

export interface Signer {
  readonly identity: string
  /** Null before the first one of this chain. */
  readonly head: SignerHead | null
  /** When a newer head came last; null before the first since the start. */
  readonly heardMs: number | null
}

export interface CountingTime {
  readonly nowMs: number
  /** When the program started. */
  readonly startedMs: number
}

/** How long a signer counts after its last head: three of those that it signs anyway. */
const heardForMs = 45_000
/** After a start, how long half or fewer of the accepted signers wait for the others. */
const patienceMs = 60_000
/** A signer further below its node than this many blocks is catching up. */
const catchUpBlocks = 64

/** The signers that count now, of all that are accepted. */
export function countedSigners(accepted: readonly Signer[], time: CountingTime): Signer[] {
  return counting(
    accepted,
    accepted.filter((signer) => isHeard(signer, time.nowMs)),
    time,
  )
}

/**
 * The signers that count, and once none has for a while those that would, had they just said again what is known of
 * them: up to there a Host still fetches what it lacks, be it from another Host, while no Generator is online.
 */
export function followedSigners(accepted: readonly Signer[], time: CountingTime): Signer[] {
  const counted = countedSigners(accepted, time)
  if (counted.length > 0 || time.nowMs - time.startedMs <= heardForMs) return counted
  return counting(
    accepted,
    accepted.filter(({ head }) => head !== null),
    time,
  )
}

/** Those of `heard` that count among all that are accepted. */
function counting(
  accepted: readonly Signer[],
  heard: readonly Signer[],
  { nowMs, startedMs }: CountingTime,
): Signer[] {
  const atNode = heard.filter((signer) => !isCatchingUp(signer))
  const counted = 2 * atNode.length < accepted.length ? heard : atNode
  const isMajority = 2 * counted.length > accepted.length
  return isMajority || nowMs - startedMs >= patienceMs ? [...counted] : []
}

/** When the answer may change by the passing of time alone; null when it cannot. */
export function nextCountMs(accepted: readonly Signer[], time: CountingTime): number | null {
  const ends = accepted.flatMap(({ heardMs }) =>
    heardMs === null ? [] : [heardMs + heardForMs + 1],
  )
  const begins = [time.startedMs + heardForMs + 1, time.startedMs + patienceMs]
  const later = [...ends, ...begins].filter((endMs) => endMs > time.nowMs)
  return later.length === 0 ? null : Math.min(...later)
}

/** Whether what came then is no longer ago than a signer counts; null is never. */
export function isRecent(heardMs: number | null, nowMs: number): boolean {
  return heardMs !== null && nowMs - heardMs <= heardForMs
}

function isHeard({ head, heardMs }: Signer, nowMs: number): boolean {
  return head !== null && isRecent(heardMs, nowMs)
}

function isCatchingUp({ head }: Signer): boolean {
  return head !== null && head.nodeHeight - head.number > catchUpBlocks
}

/** The height that more than half of these signers have reached; null where there is none. */
export function reachedHeight(signers: readonly Signer[]): number | null {
  const heights = signers.flatMap(({ head }) => head?.number ?? []).sort((a, b) => b - a)
  return heights[Math.floor(signers.length / 2)] ?? null
}

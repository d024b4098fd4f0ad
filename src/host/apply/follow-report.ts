/** What an operator should know about the signers: which count, which disagree, which are silent. */
import type { FailureReport } from '../../service/contract.ts'
import type { BlockRef, KnownBlocks } from '../fork-choice/block-ref.ts'
import type { Signer } from '../fork-choice/counting.ts'
import type { Choice, DeepFork } from '../fork-choice/decision.ts'
import { type Side, sidesOf } from '../fork-choice/sides.ts'
import { type Stand, standOf } from '../fork-choice/stand.ts'
import type { StandStill } from './stand-still.ts'

/** How long a failure has to last before it is reported. */
const lastingMs = 60_000
/** How long a signer may say nothing: six of the heads that it signs anyway. */
const silentMs = 90_000
/** Signers that one failure is reported of; the list of signers shows them all. */
const maxReported = 10

interface ReportFacts {
  readonly choice: Choice
  /** The highest stored height; -1 without any. */
  readonly head: number
  /** The lowest height that is kept. */
  readonly floor: number
  readonly standStill: StandStill
  readonly foreign: readonly { readonly identity: string; readonly genesisHash: string }[]
  readonly genesis: string | null
  /** Signers whose keys run twice. */
  readonly twice: readonly string[]
}

export interface FollowReport {
  /** The failures of this moment, the worst first; call it regularly, since it remembers what lasts. */
  failures(blocks: KnownBlocks, facts: ReportFacts, nowMs: number): FailureReport[]
}

/** Begins to watch. */
export function createFollowReport(startedMs: number): FollowReport {
  let apartSince: number | null = null
  let movedAt = startedMs
  let lastHead = -1
  const signerTimes = createSignerTimes(startedMs)

  const isOutOfReach = ({ signer, isHead }: Stand, nowMs: number): boolean =>
    !isHead && nowMs - signerTimes.linkedAt(signer) >= lastingMs
  /** Whether it catches up: blocks are stored, and nobody's head has been near lately. */
  const isMoving = (stands: readonly Stand[], nowMs: number): boolean =>
    nowMs - movedAt < lastingMs &&
    stands.every(({ signer }) => nowMs - signerTimes.linkedAt(signer) >= lastingMs)

  const disagreement = (
    blocks: KnownBlocks,
    facts: ReportFacts,
    nowMs: number,
  ): FailureReport[] => {
    const { stands, canonical } = facts.choice
    const sides = sidesOf(blocks, stands)
    const lost = isMoving(stands, nowMs) ? [] : stands.filter((one) => isOutOfReach(one, nowMs))
    if (sides.length <= 1 && lost.length === 0) apartSince = null
    else apartSince ??= nowMs
    if (apartSince === null || (lost.length === 0 && nowMs - apartSince < lastingMs)) return []
    const below = lost.filter((stand) => isBelow(stand, facts))
    const unserved = lost.filter((stand) => !below.includes(stand))
    const isApart = sides.length > 1 || unserved.length > 0
    return [
      ...below.slice(0, maxReported).map((stand) => belowReport(stand, facts)),
      ...(isApart ? [disagreementReport(sides, unserved, canonical)] : []),
    ]
  }

  return {
    failures: (blocks, facts, nowMs) => {
      if (facts.head !== lastHead) movedAt = nowMs
      lastHead = facts.head
      const { choice, foreign, genesis, twice } = facts
      const standing = choice.signers.map((signer) => standOf(blocks, signer))
      signerTimes.note(choice, nowMs)
      return [
        ...foreign
          .slice(0, maxReported)
          .map(({ identity, genesisHash }) => genesisReport(identity, genesisHash, genesis)),
        ...(choice.fork === null ? [] : [forkReport(choice.fork, standing, nowMs)]),
        ...disagreement(blocks, facts, nowMs),
        ...twice.slice(0, maxReported).map(twiceReport),
        ...silentReports(choice.signers, foreign, { signerTimes, nowMs }),
        ...standStillReports(facts, nowMs),
      ]
    },
  }
}

/** Since when signers are accepted, and when their heads were linked last. Times are monotonic milliseconds. */
interface SignerTimes {
  note(choice: Pick<Choice, 'signers' | 'stands'>, nowMs: number): void
  acceptedAt(signer: Signer): number
  /** The time at which it was accepted where its head was never linked. */
  linkedAt(signer: Signer): number
}

/** Those of the first call are accepted since the start. */
function createSignerTimes(startedMs: number): SignerTimes {
  let isFirst = true
  let accepted: ReadonlyMap<string, number> = new Map()
  let linked: ReadonlyMap<string, number> = new Map()
  const acceptedAt = ({ identity }: Signer): number => accepted.get(identity) ?? startedMs
  return {
    note: ({ signers, stands }, nowMs) => {
      const sinceMs = isFirst ? startedMs : nowMs
      isFirst = false
      const before = { accepted, linked }
      const atHead = stands.filter(({ isHead }) => isHead).map(({ signer }) => signer.identity)
      const identities = signers.map(({ identity }) => identity)
      accepted = new Map(identities.map((each) => [each, before.accepted.get(each) ?? sinceMs]))
      linked = new Map(
        identities.flatMap((each): [string, number][] => {
          const linkedMs = atHead.includes(each) ? nowMs : before.linked.get(each)
          return linkedMs === undefined ? [] : [[each, linkedMs]]
        }),
      )
    },
    acceptedAt,
    linkedAt: (signer) => linked.get(signer.identity) ?? acceptedAt(signer),
  }
}

/** An identity as texts show it: enough to distinguish it, whole in the list of signers. */
function short(identity: string): string {
  return `${identity.slice(0, 12)}…`
}

const blockText = ({ number, hash }: Pick<BlockRef, 'number' | 'hash'>): string =>
  `block ${number} (${hash.slice(0, 12)}…)`

function disagreementReport(
  sides: readonly Side[],
  lost: readonly Stand[],
  canonical: BlockRef | null,
): FailureReport {
  const groups = [
    ...sides.map(
      ({ tip, identities }) => `${identities.map(short).join(', ')} on ${blockText(tip)}`,
    ),
    ...lost.map(({ signer }) => {
      const { identity, head } = signer
      return `${short(identity)} says ${head === null ? 'nothing' : blockText(head)}, which no peer serves`
    }),
  ]
  const resting =
    canonical === null ? 'no block is shared by most' : `${blockText(canonical)} is shared by most`
  return {
    code: 'HOST_SIGNERS_DISAGREE',
    message: `The accepted signers do not agree: ${groups.join('; ')}; ${resting}.`,
    remedy:
      'Check the Generators on either side and their nodes; while they differ, nothing above the shared block is stored.',
  }
}

/** Whether a signer that is at its node's head stands below everything that is kept here. */
function isBelow({ signer: { head } }: Stand, { floor }: ReportFacts): boolean {
  return head !== null && head.number < floor
}

function belowReport(
  { signer: { identity, head } }: Stand,
  { floor, head: stored }: ReportFacts,
): FailureReport {
  const where = head === null ? 'no block' : blockText(head)
  return {
    code: 'HOST_SIGNER_BELOW',
    message: `The signer ${short(identity)} is on ${where}, below all that is kept here (${floor} to ${stored}): its chain was begun again, or its node is far behind.`,
    remedy:
      'Where the chain was begun again, stop the Host and begin with an empty directory in DB_STORE_PATH; else see to the node of that Generator.',
  }
}

function forkReport(fork: DeepFork, standing: readonly Stand[], nowMs: number): FailureReport {
  if (fork.isTooDeep) return tooDeepReport(fork, standing, nowMs)
  const { target, depth } = fork
  return {
    code: 'HOST_FORK_DEEP',
    message: `The signers are on a branch to ${blockText(target)} that leaves the last ${depth} stored blocks behind; these give way once most of all signers have stood on it for a minute.`,
    remedy: 'Check their nodes where no reorganisation of that depth was expected.',
  }
}

function tooDeepReport(
  { target, depth, missing }: DeepFork,
  standing: readonly Stand[],
  nowMs: number,
): FailureReport {
  const others = missing.map((signer) => {
    const stand = standing.find((each) => each.signer.identity === signer.identity)
    const isSilent = signer.heardMs === null || nowMs - signer.heardMs > silentMs
    const where = stand?.link ? `on ${blockText(stand.link)}` : 'on no block that is known'
    return `${short(signer.identity)} ${isSilent ? 'is silent' : `stands ${where}`}`
  })
  return {
    code: 'HOST_FORK_TOO_DEEP',
    message: `The signers that count are on a branch to ${blockText(target)} that leaves the last ${depth} stored blocks behind, and that is more than they may decide alone: ${others.join('; ')}.`,
    remedy:
      'Bring the other signers back, or take those off the list that are gone for good; more than half of all accepted signers decide.',
  }
}

function genesisReport(identity: string, found: string, own: string | null): FailureReport {
  return {
    code: 'HOST_GENESIS_MISMATCH',
    message: `The signer ${short(identity)} is on another chain of the same name: its block 0 is ${found}, the store's is ${own}.`,
    remedy:
      'Where the chain was recreated, stop the Host and begin with an empty directory in DB_STORE_PATH; else name another Generator, or set CHAIN_NAME and CHAIN_NETWORK.',
  }
}

function twiceReport(identity: string): FailureReport {
  return {
    code: 'HOST_SIGNER_TWICE',
    message: `The signer ${short(identity)} signed two different heads with one sequence: its key runs twice.`,
    remedy: 'Stop one of the two Generators that have this key.',
  }
}

/** Last, since it is what comes of the others; there may be a cause that nothing else reports. */
function standStillReports(
  { head, standStill: { forMs, sinceMs } }: ReportFacts,
  nowMs: number,
): FailureReport[] {
  if (sinceMs === null || forMs < lastingMs) return []
  const since = new Date(Date.now() - (nowMs - sinceMs)).toISOString().slice(0, 19)
  const where = head < 0 ? 'No block' : `No block above ${head}`
  return [
    {
      code: 'HOST_STANDS_STILL',
      message: `${where} has been stored since ${since}Z, while heads of accepted signers went on.`,
      remedy:
        'See what else is reported here; else whether a peer that serves those blocks is connected, and what the log says of blocks that are refused.',
    },
  ]
}

function silentReports(
  signers: readonly Signer[],
  foreign: ReportFacts['foreign'],
  { signerTimes, nowMs }: { readonly signerTimes: SignerTimes; readonly nowMs: number },
): FailureReport[] {
  const isForeign = (identity: string): boolean =>
    foreign.some((each) => each.identity === identity)
  return signers
    .filter(({ identity }) => !isForeign(identity))
    .filter((signer) => nowMs - (signer.heardMs ?? signerTimes.acceptedAt(signer)) > silentMs)
    .slice(0, maxReported)
    .map(({ identity, heardMs }) => ({
      code: 'HOST_SIGNER_SILENT',
      message: `The signer ${short(identity)} ${heardMs === null ? 'has not been heard since the start' : `has been silent for ${Math.floor((nowMs - heardMs) / 1_000)} seconds`}.`,
      remedy:
        'Check that this Generator runs, reaches its node, and is connected with this Host or another one that is.',
    }))
}

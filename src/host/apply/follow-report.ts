/** What an operator should know about the signers: which count, which disagree, which are silent. */
import type { FailureReport } from '../../service/contract.ts'
import type { BlockRef, KnownBlocks } from '../fork-choice/block-ref.ts'
import type { Signer } from '../fork-choice/counting.ts'
import type { Choice, TooDeep } from '../fork-choice/decision.ts'
import { type Side, sidesOf } from '../fork-choice/sides.ts'
import { type Stand, standOf } from '../fork-choice/stand.ts'

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
  /** When a signer's head was linked last. */
  const linkedAt = new Map<string, number>()

  const isApart = (stands: readonly Stand[], sides: readonly Side[], nowMs: number): boolean => {
    if (sides.length > 1) return true
    const isMoving = nowMs - movedAt < lastingMs && !stands.some(({ isHead }) => isHead)
    return !isMoving && stands.some((stand) => isOutOfReach(stand, nowMs))
  }
  const isOutOfReach = ({ signer, isHead }: Stand, nowMs: number): boolean =>
    !isHead && nowMs - (linkedAt.get(signer.identity) ?? startedMs) >= lastingMs

  const noteLinked = ({ stands, signers }: Choice, nowMs: number): void => {
    for (const { signer, isHead } of stands) if (isHead) linkedAt.set(signer.identity, nowMs)
    const known = new Set(signers.map(({ identity }) => identity))
    for (const identity of linkedAt.keys()) if (!known.has(identity)) linkedAt.delete(identity)
  }

  const disagreement = (
    blocks: KnownBlocks,
    facts: ReportFacts,
    nowMs: number,
  ): FailureReport[] => {
    const { stands, canonical } = facts.choice
    noteLinked(facts.choice, nowMs)
    const sides = sidesOf(blocks, stands)
    if (!isApart(stands, sides, nowMs)) apartSince = null
    else apartSince ??= nowMs
    if (apartSince === null || (sides.length > 1 && nowMs - apartSince < lastingMs)) return []
    const lost = stands.filter((stand) => isOutOfReach(stand, nowMs))
    return [disagreementReport(sides, lost, canonical)]
  }

  return {
    failures: (blocks, facts, nowMs) => {
      if (facts.head !== lastHead) movedAt = nowMs
      lastHead = facts.head
      const { choice, foreign, genesis, twice } = facts
      const standing = choice.signers.map((signer) => standOf(blocks, signer))
      return [
        ...foreign
          .slice(0, maxReported)
          .map(({ identity, genesisHash }) => genesisReport(identity, genesisHash, genesis)),
        ...(choice.tooDeep === null ? [] : [tooDeepReport(choice.tooDeep, standing, nowMs)]),
        ...disagreement(blocks, facts, nowMs),
        ...twice.slice(0, maxReported).map(twiceReport),
        ...silentReports(choice.signers, foreign, startedMs, nowMs).slice(0, maxReported),
      ]
    },
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

function tooDeepReport(
  { target, depth, missing }: TooDeep,
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

function silentReports(
  signers: readonly Signer[],
  foreign: ReportFacts['foreign'],
  startedMs: number,
  nowMs: number,
): FailureReport[] {
  const isForeign = (identity: string): boolean =>
    foreign.some((each) => each.identity === identity)
  return signers
    .filter(({ identity }) => !isForeign(identity))
    .filter(({ heardMs }) => nowMs - (heardMs ?? startedMs) > silentMs)
    .map(({ identity, heardMs }) => ({
      code: 'HOST_SIGNER_SILENT',
      message: `The signer ${short(identity)} ${heardMs === null ? 'has not been heard since the start' : `has been silent for ${Math.floor((nowMs - heardMs) / 1000)} seconds`}.`,
      remedy:
        'Check that this Generator runs, reaches its node, and is connected with this Host or another one that is.',
    }))
}

/**
 * Asks peers for the newest head of this Generator that they have: on every connection, and from time to
 * time on those that stay. After its store was lost and its clock set back it would sign heads that peers
 * take for old ones, and another program may run with its key. Only our own signature counts, and is looked at
 * only on heads that this program did not sign.
 */
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import { verifySignature } from '../../identity/signature.ts'
import type { P2p } from '../../p2p/p2p.ts'
import { decodeHead, type Head, headDigest } from '../../primitives/head.ts'
import { decodeHeadsAnswer, encodeVoteRequest } from '../../primitives/vote-exchange.ts'
import { malformed } from '../../primitives/wire.ts'

export interface OwnHeadSearchOptions {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** The public key of this Generator. */
  readonly identity: string
  /** Between two questions to a peer. */
  readonly askPeersMs: number
}

export interface OwnHeadSearchParts {
  readonly p2p: Pick<P2p, 'ask' | 'onPeer' | 'peers' | 'penalise'>
  readonly log: Logger
  /** A head with our valid signature that this program did not sign. */
  readonly onFound: (head: Head) => void
}

export interface OwnHeadSearch {
  /** This program signed the head with this sequence. */
  know(sequence: number): void
  close(): void
}

/** Begins to ask. */
export function openOwnHeadSearch(
  options: OwnHeadSearchOptions,
  parts: OwnHeadSearchParts,
): OwnHeadSearch {
  const { p2p, log } = parts
  const question = encodeVoteRequest({ kind: 'heads', identities: [options.identity] })
  const closing = new AbortController()
  const asking = new Set<string>()
  const own = createSequences()

  const ask = async (peer: string): Promise<void> => {
    if (asking.has(peer)) return
    asking.add(peer)
    try {
      const answer = await p2p.ask(peer, 'votes', question, closing.signal)
      const head = readForeign(answer, options, own.has)
      if (head !== null) parts.onFound(head)
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'PRIMITIVES_MESSAGE_MALFORMED')
        p2p.penalise(peer, error.message)
      else log.debug({ err: error, peer }, 'a peer did not tell which head of ours it has')
    } finally {
      asking.delete(peer)
    }
  }
  const askAll = (): void => {
    for (const { id } of p2p.peers()) void ask(id)
  }

  const stop = p2p.onPeer(({ type, peer }) => {
    if (type === 'connected') void ask(peer)
  })
  const timer = setInterval(askAll, options.askPeersMs)
  askAll()
  return {
    know: own.add,
    close() {
      stop()
      clearInterval(timer)
      closing.abort()
    },
  }
}

/** Sequences in ascending order, kept as spans: as a rule each is one above the one before. */
function createSequences(): { add(sequence: number): void; has(sequence: number): boolean } {
  const spans: { readonly from: number; to: number }[] = []
  return {
    add: (sequence) => {
      const last = spans.at(-1)
      if (last !== undefined && sequence === last.to + 1) last.to = sequence
      else spans.push({ from: sequence, to: sequence })
    },
    has: (sequence) => spans.some(({ from, to }) => sequence >= from && sequence <= to),
  }
}

/**
 * The head of an answer; null where there is none, or one that this program signed.
 * @throws ServiceError `PRIMITIVES_MESSAGE_MALFORMED` for what was not asked for.
 */
function readForeign(
  answer: Uint8Array,
  { network, identity }: OwnHeadSearchOptions,
  isOwn: (sequence: number) => boolean,
): Head | null {
  const [bytes, ...others] = decodeHeadsAnswer(answer)
  if (others.length > 0) throw malformed('it has more than the newest head')
  if (bytes === undefined) return null
  const head = decodeHead(bytes)
  if (isOwn(head.sequence)) return null
  if (head.network !== network || !isSignedBy(identity, head))
    throw malformed('its head was not signed by this Generator')
  return head
}

function isSignedBy(identity: string, head: Head): boolean {
  const { signatureType, signatureIdentity, signatureValue } = head
  return (
    signatureIdentity === identity &&
    verifySignature(signatureType, identity, headDigest(head), signatureValue)
  )
}

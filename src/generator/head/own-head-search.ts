/**
 * Asks peers for the newest head of this Generator that they have: on every connection, and from time to
 * time on those that stay. After its store was lost and its clock set back it would sign heads that peers
 * take for old ones. Only our own signature counts, and is looked at only on a sequence above ours,
 * so old heads that somebody shows us cost next to nothing.
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
  /** A head above all that are known, with our valid signature. */
  readonly onFound: (head: Head) => void
}

export interface OwnHeadSearch {
  /** Heads up to this sequence are known. */
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
  let known = 0

  const ask = async (peer: string): Promise<void> => {
    if (asking.has(peer)) return
    asking.add(peer)
    try {
      const head = readNewer(await p2p.ask(peer, 'votes', question, closing.signal), options, known)
      if (head === null) return
      known = head.sequence
      parts.onFound(head)
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
    know(sequence) {
      known = Math.max(known, sequence)
    },
    close() {
      stop()
      clearInterval(timer)
      closing.abort()
    },
  }
}

/**
 * The head of an answer, null where there is none above `known`. Throws PRIMITIVES_MESSAGE_MALFORMED for
 * what was not asked for.
 */
function readNewer(
  answer: Uint8Array,
  { network, identity }: OwnHeadSearchOptions,
  known: number,
): Head | null {
  const [bytes, ...others] = decodeHeadsAnswer(answer)
  if (others.length > 0) throw malformed('it has more than the newest head')
  if (bytes === undefined) return null
  const head = decodeHead(bytes)
  if (head.sequence <= known) return null
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

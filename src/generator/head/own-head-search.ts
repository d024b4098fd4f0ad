/**
 * Asks peers for the newest head of this Generator that they have: on every new connection, and
 * periodically on existing ones. After its store was lost and its clock set back it would sign heads that
 * peers ignore as old, and another program may run with its key. Only our own signature counts, and it is
 * verified only on heads that this program did not sign.
 */
import type { Logger } from 'pino'
import { ServiceError } from '../../errors.ts'
import { isHeadSigned } from '../../mesh/signed-claims.ts'
import type { P2p } from '../../p2p/p2p.ts'
import { decodeHead, type Head } from '../../primitives/head.ts'
import { addHeights, type HeightRanges, hasHeight } from '../../primitives/height-ranges.ts'
import { decodeHeadsAnswer, encodeVoteRequest } from '../../primitives/vote-exchange.ts'
import { malformedMessage } from '../../primitives/wire.ts'

interface OwnHeadSearchOptions {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** The public key of this Generator. */
  readonly identity: string
  /** Interval between two requests to a peer. */
  readonly askPeersMs: number
}

interface OwnHeadSearchParts {
  readonly p2p: Pick<P2p, 'request' | 'onPeer' | 'peers' | 'penalise'>
  readonly log: Logger
  /** A head with our valid signature that this program did not sign. */
  readonly onFound: (head: Head) => void
}

interface OwnHeadSearch {
  /** This program signed the head with this sequence. */
  addOwn(sequence: number): void
  close(): void
}

/** Starts the search. */
export function openOwnHeadSearch(
  options: OwnHeadSearchOptions,
  parts: OwnHeadSearchParts,
): OwnHeadSearch {
  const { p2p, log } = parts
  const question = encodeVoteRequest({ kind: 'heads', identities: [options.identity] })
  const closing = new AbortController()
  const asking = new Set<string>()
  /** Sequences that this program signed; as a rule each is one above the one before. */
  let own: HeightRanges = []

  const ask = async (peer: string): Promise<void> => {
    if (asking.has(peer)) return
    asking.add(peer)
    try {
      const response = await p2p.request(peer, 'votes', question, closing.signal)
      const head = readForeign(response, options, (sequence) => hasHeight(own, sequence))
      if (head !== null) parts.onFound(head)
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'PRIMITIVES_MESSAGE_MALFORMED')
        p2p.penalise(peer, error.message)
      else log.debug({ err: error, peer }, 'a peer did not report which head of ours it has')
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
    addOwn(sequence) {
      own = addHeights(own, sequence)
    },
    close() {
      stop()
      clearInterval(timer)
      closing.abort()
    },
  }
}

/**
 * The head in a response; null where there is none, or one that this program signed.
 * @throws ServiceError `PRIMITIVES_MESSAGE_MALFORMED` for anything that was not requested.
 */
function readForeign(
  response: Uint8Array,
  { network, identity }: OwnHeadSearchOptions,
  isOwn: (sequence: number) => boolean,
): Head | null {
  const [bytes, ...others] = decodeHeadsAnswer(response)
  if (others.length > 0) throw malformedMessage('it has more than the newest head')
  if (bytes === undefined) return null
  const head = decodeHead(bytes)
  if (isOwn(head.sequence)) return null
  const isOurs = head.network === network && head.signatureIdentity === identity
  if (!isOurs || !isHeadSigned(head))
    throw malformedMessage('its head was not signed by this Generator')
  return head
}

/** A peer that plays a Host as far as heads go: hears them, keeps the newest of each signer and answers with it. */
import type { TestContext } from 'node:test'
import { isValidSignature } from '../../../src/identity/signature.ts'
import { decodeHead, encodeHead, type Head, headDigest } from '../../../src/primitives/head.ts'
import { decodeSealedBlock } from '../../../src/primitives/sealed-block.ts'
import { decodeVoteRequest, encodeHeadsAnswer } from '../../../src/primitives/vote-exchange.ts'
import { openRoom, type TestRoom } from '../../support/p2p-room.ts'
import { type Collection, createCollection } from './collection.ts'

export interface HeadListener {
  readonly room: TestRoom
  /** The heads that came by gossip, in order. */
  readonly heads: Collection<Head>
  /** What came, in order: `head 5`, `block 5`. */
  readonly heard: Collection<string>
}

/** The newest head of each identity; listeners that share one are Hosts that heard the same. */
export type NewestHeads = Map<string, Head>

/** Opens a peer of the network `Local__Devnet` that connects to these addresses. */
export async function openHeadListener(
  t: TestContext,
  peers: readonly string[],
  newest: NewestHeads = new Map(),
): Promise<HeadListener> {
  const heads = createCollection<Head>()
  const heard = createCollection<string>()
  const room = await openRoom(t, {
    options: { bootstrapPeers: peers },
    async onBlock(bytes) {
      const [seal] = decodeSealedBlock(bytes).seals
      heard.add(`block ${seal?.blockNumber}`)
      return { action: 'accept' }
    },
    async onHead(bytes) {
      const head = decodeHead(bytes)
      const { signatureType, signatureIdentity, signatureValue, sequence } = head
      if (!isValidSignature(signatureType, signatureIdentity, headDigest(head), signatureValue))
        return { action: 'reject', reason: 'its signature is wrong' }
      heard.add(`head ${head.number}`)
      heads.add(head)
      if (sequence > (newest.get(signatureIdentity)?.sequence ?? 0))
        newest.set(signatureIdentity, head)
      return { action: 'accept' }
    },
    answers: {
      votes(question) {
        const request = decodeVoteRequest(question)
        if (request.kind !== 'heads') return null
        const known = request.identities.flatMap((identity) => newest.get(identity) ?? [])
        return encodeHeadsAnswer(known.map(encodeHead))
      },
    },
  })
  return { room, heads, heard }
}

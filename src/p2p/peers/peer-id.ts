/** The peer ID that follows from a node key. */
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'

/** The ID, as in `12D3KooW...`, of a node with the Ed25519 key of 32 bytes. */
export async function peerIdOf(seed: Uint8Array): Promise<string> {
  return peerIdFromPrivateKey(await generateKeyPairFromSeed('Ed25519', seed)).toString()
}

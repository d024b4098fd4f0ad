/**
 * Peer IDs as text, checked without libp2p, which takes long to load: whether one contains a key at all.
 * https://github.com/libp2p/specs/blob/master/peer-ids/peer-ids.md
 */
import { ECDH } from 'node:crypto'
import { fromBase58 } from '../../identity/base58.ts'

/** Ed25519 and secp256k1 IDs: they contain the key the connection is checked against, RSA's do not. */
const shape = /^(?:12D3KooW[1-9A-HJ-NP-Za-km-z]{44}|16Uiu2HA[1-9A-HJ-NP-Za-km-z]{45})$/
/** An identity multihash of a key in Protocol Buffers, in hex: everything before the 32 or 33 bytes of the key. */
const ed25519 = /^002408011220([0-9a-f]{64})$/
const secp256k1 = /^002508021221([0-9a-f]{66})$/

/** Whether it is the ID of a peer that can be: of half of all texts that look like one no key can be read. */
export function isPeerID(text: string): boolean {
  if (!shape.test(text)) return false
  // The leading 1 is a byte of zeros.
  const bytes = `00${fromBase58(text).toString(16)}`
  const point = secp256k1.exec(bytes)?.[1]
  return point === undefined ? ed25519.test(bytes) : isPoint(point)
}

function isPoint(compressed: string): boolean {
  try {
    ECDH.convertKey(compressed, 'secp256k1', 'hex', 'hex', 'uncompressed')
    return true
  } catch {
    return false
  }
}

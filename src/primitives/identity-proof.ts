/**
 * How a peer proves which Generator or Host it is: the node's key signs the peer ID of its
 * connections. The connection itself proves the peer ID, so a copied proof is worth nothing.
 *
 * On the wire: canonical DAG-CBOR of `[1, network, role, signature type, identity, signature]`.
 */
import { hash } from 'node:crypto'
import { createByteWriter, major, writeHead, writeText } from './cbor.ts'
import { readSignature, type Signature, writeSignature } from './signature.ts'
import { expectHead, malformedMessage, readMessage, readNetwork, readShortText } from './wire.ts'

/** What a node is. Only a `generator` seals blocks. */
const nodeRoles = ['generator', 'host'] as const
export type NodeRole = (typeof nodeRoles)[number]

/** The part of a proof that is signed. */
export interface IdentityStatement {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly role: NodeRole
  /** In its text form, as in `12D3KooW...`. */
  readonly peerId: string
}

/** A proof as it travels: the peer ID is that of the connection it comes on. */
interface IdentityProof extends Omit<IdentityStatement, 'peerId'>, Signature {}

const statementTag = 'viewmesh/identity/1'
const version = 1
const items = 6
const maxProofBytes = 512
const maxRoleLength = 16

/** What is signed: SHA-256 of the DAG-CBOR of `[tag, network, role, peer ID]`. */
export function identityDigest({ network, role, peerId }: IdentityStatement): Uint8Array {
  const out = createByteWriter()
  writeHead(out, major.array, 4)
  for (const text of [statementTag, network, role, peerId]) writeText(out, text)
  return hash('sha256', out.bytes.subarray(0, out.at), 'buffer')
}

/** The message of a proof. */
export function encodeIdentityProof(proof: IdentityProof): Uint8Array {
  const out = createByteWriter(maxProofBytes)
  writeHead(out, major.array, items)
  writeHead(out, major.int, version)
  writeText(out, proof.network)
  writeText(out, proof.role)
  writeSignature(out, proof)
  return out.bytes.subarray(0, out.at)
}

/**
 * Decodes a proof; its signature is not verified.
 * @throws ServiceError `PRIMITIVES_MESSAGE_MALFORMED`.
 */
export function decodeIdentityProof(bytes: Uint8Array): IdentityProof {
  return readMessage(bytes, maxProofBytes, (reader) => {
    expectHead(reader, major.array, items)
    expectHead(reader, major.int, version)
    const network = readNetwork(reader)
    const text = readShortText(reader, 'a role', maxRoleLength)
    const role = nodeRoles.find((known) => known === text)
    if (role === undefined) throw malformedMessage('a role is unknown')
    return { network, role, ...readSignature(reader) }
  })
}

/**
 * What a node signs so that its identity can be registered on the registry chain by one account and nobody else: the
 * canonical DAG-CBOR of `["viewmesh/registration/1", chain ID, role, address, seconds]`.
 */
import { createByteWriter, major, writeHead, writeText } from '../primitives/cbor.ts'
import type { NodeRole } from '../primitives/identity-proof.ts'
import { didOfKey } from './did-key.ts'
import { isValidSignature } from './signature.ts'

interface BoundStatement {
  /** Chain ID (EIP-155) of the registry chain. */
  readonly chainId: number
  readonly role: NodeRole
  /** The account that registers: 0x and 40 digits with the checksum of EIP-55. */
  readonly address: string
  /** When it was signed, in whole seconds since 1970. */
  readonly seconds: number
}

/** A statement; without account and time it is the constant message of the role, which says nothing of a chain. */
export type RegistrationStatement =
  | BoundStatement
  | (Pick<BoundStatement, 'chainId' | 'role'> & { readonly address: null; readonly seconds: null })

const tag = 'viewmesh/registration/1'
const items = 5

/** The message, which is signed as it is, and not its digest. */
export function encodeRegistration(statement: RegistrationStatement): Uint8Array {
  if (statement.address === null) return Buffer.from(constantRegistrations[statement.role])
  const out = createByteWriter()
  writeHead(out, major.array, items)
  writeText(out, tag)
  writeHead(out, major.int, statement.chainId)
  writeText(out, statement.role)
  writeText(out, statement.address)
  writeHead(out, major.int, statement.seconds)
  return out.bytes.subarray(0, out.at)
}

/**
 * The text that every node of a role signs for older dashboards. It names no account, so whoever has seen the
 * signature can register the node's identity as his own.
 */
const constantRegistrations: Readonly<Record<NodeRole, string>> = {
  generator: 'Shinzo Network Generator registration',
  host: 'Shinzo Network host registration',
}

/** What a node answers to prove that its identity may be registered; bytes in lower-case hex without 0x. */
interface RegistrationProof {
  readonly message: string
  /** Compressed. */
  readonly publicKey: string
  /** DER, ECDSA over the SHA-256 of the message. */
  readonly signature: string
  readonly did: string
}

/** Which part of a proof does not hold; null where all of it does. */
export function findRegistrationFault(
  { message, publicKey, signature, did }: RegistrationProof,
  statement: RegistrationStatement,
): 'message' | 'signature' | 'did' | null {
  const bytes = Buffer.from(message, 'hex')
  if (bytes.compare(encodeRegistration(statement)) !== 0) return 'message'
  if (!isValidSignature('ES256K', publicKey, bytes, signature)) return 'signature'
  return did === didOfKey(publicKey) ? null : 'did'
}

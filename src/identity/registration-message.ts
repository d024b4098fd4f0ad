/**
 * What a node signs so that its identity can be registered on the registry chain by one account and nobody else: the
 * canonical DAG-CBOR of `["viewmesh/registration/1", chain ID, role, address, seconds]`.
 */
import { createByteWriter, major, writeHead, writeText } from '../primitives/cbor.ts'
import type { NodeRole } from '../primitives/identity-proof.ts'

interface RegistrationStatement {
  /** Chain ID (EIP-155) of the registry chain. */
  readonly chainId: number
  readonly role: NodeRole
  /** The account that registers: 0x and 40 digits with the checksum of EIP-55. */
  readonly address: string
  /** When it was signed, in whole seconds since 1970. */
  readonly seconds: number
}

const tag = 'viewmesh/registration/1'
const items = 5

/** The message, which is signed as it is, and not its digest. */
export function encodeRegistration(statement: RegistrationStatement): Uint8Array {
  const out = createByteWriter(128)
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
export const constantRegistrations: Readonly<Record<NodeRole, string>> = {
  generator: 'Shinzo Network Generator registration',
  host: 'Shinzo Network host registration',
}

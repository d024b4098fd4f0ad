/**
 * Recomputes a block's hash from its header, so that the node need not be trusted for it:
 * keccak256 of the RLP list of the header's fields (Yellow Paper 4.3; fields of later forks by
 * EIP-1559, EIP-4895, EIP-4844, EIP-4788 and EIP-7685, each appended to those before it).
 */
import { RLP } from '@ethereumjs/rlp'
import { keccak_256 } from '@noble/hashes/sha3.js'
import type { RpcBlock } from '../primitives/rpc-block.ts'

interface HeaderField {
  readonly name: string
  readonly quantity?: true
}

/** In every header since the first block. */
const firstFields: readonly HeaderField[] = [
  { name: 'parentHash' },
  { name: 'sha3Uncles' },
  { name: 'miner' },
  { name: 'stateRoot' },
  { name: 'transactionsRoot' },
  { name: 'receiptsRoot' },
  { name: 'logsBloom' },
  { name: 'difficulty', quantity: true },
  { name: 'number', quantity: true },
  { name: 'gasLimit', quantity: true },
  { name: 'gasUsed', quantity: true },
  { name: 'timestamp', quantity: true },
  { name: 'extraData' },
  { name: 'mixHash' },
  { name: 'nonce' },
]

/** Appended by forks, in this order. */
const forkFields: readonly HeaderField[] = [
  { name: 'baseFeePerGas', quantity: true },
  { name: 'withdrawalsRoot' },
  { name: 'blobGasUsed', quantity: true },
  { name: 'excessBlobGas', quantity: true },
  { name: 'parentBeaconBlockRoot' },
  { name: 'requestsHash' },
]

/** What a node returns about a block besides its header. */
const besideHeader = ['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals']

const knownNames: ReadonlySet<string> = new Set([
  ...[...firstFields, ...forkFields].map(({ name }) => name),
  ...besideHeader,
])

/**
 * `unknown` = the header has unknown fields or lacks known ones: it belongs to a later fork or another
 * kind of chain, and its hash cannot be verified.
 */
type HeaderVerdict =
  | { readonly kind: 'matches' }
  | { readonly kind: 'differs'; readonly computed: string }
  | { readonly kind: 'unknown'; readonly fields: readonly string[] }

/** Whether `block.hash` is the hash of the header around it. */
export function checkHeaderHash(block: RpcBlock): HeaderVerdict {
  const header = block as Readonly<Record<string, unknown>>
  const lacking = firstFields.filter((field) => !isReadable(header, field)).map(({ name }) => name)
  const computed = headerHash(header)
  if (lacking.length === 0 && computed === block.hash?.toLowerCase()) return { kind: 'matches' }
  const unfamiliar = Object.keys(header).filter((name) => !knownNames.has(name))
  const fields = [...unfamiliar, ...lacking]
  return fields.length > 0 ? { kind: 'unknown', fields } : { kind: 'differs', computed }
}

/** A fork's field that a chain leaves out is encoded empty where a later field follows, as is what cannot be read. */
function headerHash(header: Readonly<Record<string, unknown>>): string {
  const last = forkFields.findLastIndex((field) => isReadable(header, field))
  const fields = [...firstFields, ...forkFields.slice(0, last + 1)]
  const digest = keccak_256(RLP.encode(fields.map((field) => fieldBytes(header, field))))
  return `0x${Buffer.from(digest).toString('hex')}`
}

function fieldBytes(header: Readonly<Record<string, unknown>>, field: HeaderField): Uint8Array {
  const digits = digitsOf(header, field)
  if (digits === undefined) return new Uint8Array()
  if (field.quantity === undefined) return Buffer.from(digits, 'hex')
  const minimal = digits.replace(/^0+/, '')
  return Buffer.from(minimal.length % 2 === 0 ? minimal : `0${minimal}`, 'hex')
}

function isReadable(header: Readonly<Record<string, unknown>>, field: HeaderField): boolean {
  return digitsOf(header, field) !== undefined
}

/** Those of whole bytes, or of a number of any length; undefined for all else. */
function digitsOf(
  header: Readonly<Record<string, unknown>>,
  { name, quantity }: HeaderField,
): string | undefined {
  const value = header[name]
  if (typeof value !== 'string' || !/^0x[0-9a-f]*$/i.test(value)) return undefined
  return quantity === true || value.length % 2 === 0 ? value.slice(2) : undefined
}

/** What a running node answers for its registration: asked for, bounded and proven. */

import { ServiceError } from '../../errors.ts'
import {
  findRegistrationFault,
  type RegistrationStatement,
} from '../../identity/registration-message.ts'
import { type JsonObject, membersOf } from '../../json-object.ts'
import { readBounded } from '../../read-bounded.ts'
import { paths } from '../../service/contract.ts'
import type { RegistrationReport } from '../../service/health/registration-route.ts'
import { toSingleLine } from '../cli/print.ts'

const timeoutMs = 10_000
const maxAnswer = 64 * 1024

/**
 * Asks the node for its registration. What is signed on its word stays for good, so nothing of it is believed without proof.
 * @throws ServiceError `TOOLKIT_NODE_UNREACHABLE`, `TOOLKIT_NODE_REFUSED`, `TOOLKIT_NODE_UNPROVEN`
 */
export async function askRegistration(
  node: string,
  signal: AbortSignal,
): Promise<RegistrationReport> {
  const url = `${node.replace(/\/+$/, '')}${paths.registration}`
  try {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const response = await fetch(url, { signal: deadline, redirect: 'error' })
    const text = (await readBounded(response.body ?? [], maxAnswer)).toString()
    if (response.status === 503) throw notSigned(text)
    if (!response.ok) throw new Error(`HTTP status ${response.status}`)
    const report: unknown = JSON.parse(text)
    if (!isReport(report)) throw new Error('it answers no registration')
    requireProof(report)
    return report
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ServiceError) throw error
    throw new ServiceError('TOOLKIT_NODE_UNREACHABLE', `there is no node at ${new URL(url).host}`, {
      remedy: 'Give the health port of a running Generator or Host to --node.',
      cause: error,
    })
  }
}

function isReport(value: unknown): value is RegistrationReport {
  const { registration, statement } = membersOf(value) as Partial<RegistrationReport>
  const { public_key: key, signed_pk_message: signature } =
    registration?.defra_pk_registration ?? {}
  const bytes = [registration?.message, key, signature]
  const texts = [registration?.did, registration?.connection_string, registration?.endpoint_address]
  return (
    bytes.every((each) => typeof each === 'string' && /^0x(?:[0-9a-f]{2})+$/.test(each)) &&
    texts.every((each) => typeof each === 'string') &&
    (statement?.role === 'host' || statement?.role === 'generator') &&
    Number.isSafeInteger(statement.chain_id) &&
    statement.chain_id > 0
  )
}

/** The node's key has to have signed what it says, under the name that follows from that key. */
function requireProof({ registration, statement }: RegistrationReport): void {
  const { public_key: publicKey, signed_pk_message: signature } = registration.defra_pk_registration
  const proof = {
    message: registration.message.slice(2),
    publicKey: publicKey.slice(2),
    signature: signature.slice(2),
    did: registration.did,
  }
  const stated = toStatement(statement)
  const fault = stated === null ? 'message' : findRegistrationFault(proof, stated)
  if (fault === null) return
  throw new ServiceError(
    'TOOLKIT_NODE_UNPROVEN',
    `what the node answers proves nothing: ${faults[fault]}`,
    {
      remedy:
        'Ask the node itself: give its own health port to --node, with nothing in between that changes answers.',
    },
  )
}

const faults = {
  message: 'its message is not the one of its statement',
  signature: 'its signature is not one over its message by its public key',
  did: 'its did is not that of its public key',
} as const

/** Null for one that no node makes. */
function toStatement({
  chain_id: chainId,
  role,
  address,
  signed_at: signedAt,
}: RegistrationReport['statement']): RegistrationStatement | null {
  if (address === null) return { chainId, role, address, seconds: null }
  const seconds = Date.parse(String(signedAt)) / 1_000
  const isMade =
    /^0x[0-9a-fA-F]{40}$/.test(address) && Number.isSafeInteger(seconds) && seconds >= 0
  return isMade ? { chainId, role, address, seconds } : null
}

/** Nodes say why and what to do in members of an object, others that answer in their place as they like. */
function notSigned(text: string): ServiceError {
  const { message, remedy } = refusalOf(text)
  return nodeRefused(
    `the node does not sign a registration: ${lineOf(message) ?? lineOf(text)}`,
    lineOf(remedy) ?? 'Give the health port of a running Generator or Host to --node.',
  )
}

function refusalOf(text: string): JsonObject {
  try {
    return membersOf(JSON.parse(text))
  } catch {
    return {}
  }
}

function lineOf(said: unknown): string | null {
  return typeof said === 'string' ? toSingleLine(said).slice(0, 300) : null
}

/** What a node says keeps it from being registered. */
export function nodeRefused(message: string, remedy: string): ServiceError {
  return new ServiceError('TOOLKIT_NODE_REFUSED', message, { remedy })
}

/**
 * `GET /registration` of both programs: what somebody needs to register this node on the registry chain. The account that
 * may is a setting, never part of a request; a request makes nothing be signed that others could use.
 */
import type { FastifyInstance } from 'fastify'
import { didOfKey } from '../../identity/did-key.ts'
import {
  encodeRegistration,
  type RegistrationStatement,
} from '../../identity/registration-message.ts'
import type { DigestSigner } from '../../identity/signature.ts'
import { type ProgramName, paths } from '../contract.ts'
import { knownChainId } from '../known-networks.ts'
import { bestAddress } from './address-reach.ts'
import { errorBody } from './http-server.ts'

interface RegistrationSettings {
  readonly registrationAddress: string | null
  readonly registrationChainId: number
  readonly registrationEndpoint: string | null
  readonly registrationMessage: 'bound' | 'constant'
  readonly chainName: string
  readonly chainNetwork: string
}

/** What a node signs with, and where it is reached; null until it is open. */
export interface RegisteringNode {
  readonly signer: DigestSigner
  readonly self: () => { readonly id: string; readonly addresses: readonly string[] }
  /** Those of `addresses` that the operator announces. */
  readonly announced: () => readonly string[]
}

/** The body of the answer. Names are what dashboards of the registry chain read. */
export interface RegistrationReport {
  readonly status: 'ready'
  readonly registration: {
    readonly enabled: true
    /** 0x and the hex of the message. */
    readonly message: string
    /** `did:key:…` of the public key. */
    readonly did: string
    /** Multiaddr with the peer ID: an announced one, else one of its own that others may reach; empty without any. */
    readonly connection_string: string
    /** Lower-case, as in `ethereum`; its ID is 0 where it is none of a public network. */
    readonly source_chain: string
    readonly source_chain_id: number
    readonly defra_pk_registration: {
      /** 0x and the compressed key. */
      readonly public_key: string
      /** 0x and the signature in DER, ECDSA over the SHA-256 of the message. */
      readonly signed_pk_message: string
    }
    /** Where applications reach the node over HTTP; empty where that is not set. */
    readonly endpoint_address: string
  }
  /** What the message says; `address` may be anybody's account where it is the constant one. */
  readonly statement: {
    readonly chain_id: number
    readonly role: ProgramName
    readonly address: string | null
    /** RFC 3339; null in the constant message. */
    readonly signed_at: string | null
  }
}

/** The same answer for so long: nobody makes a node sign more often. */
const keptMs = 60_000

/** Declares the route; `node` is asked at each request. */
export function registrationRoute(
  server: FastifyInstance,
  settings: RegistrationSettings,
  { role, node }: { readonly role: ProgramName; readonly node: () => RegisteringNode | null },
): void {
  let kept: { readonly report: RegistrationReport; readonly untilMs: number } | null = null
  server.get(paths.registration, (_request, reply) => {
    reply.header('cache-control', 'no-cache')
    const open = node()
    if (open === null)
      return reply.code(503).send(errorBody(503, 'the node is not open yet', openRemedy))
    if (settings.registrationMessage === 'bound' && settings.registrationAddress === null)
      return reply.code(503).send(errorBody(503, addressMissing, addressRemedy))
    if (kept === null || kept.untilMs < Date.now())
      kept = { report: toReport(settings, role, open), untilMs: Date.now() + keptMs }
    return reply.send(kept.report)
  })
}

const openRemedy = `Ask again when ${paths.health} says healthy.`
const addressMissing =
  'REGISTRATION_ADDRESS is not set: it is the account that registers this node on the registry chain'
const addressRemedy =
  'Set REGISTRATION_ADDRESS of the node to the account that registers it, and start it again.'

function toReport(
  settings: RegistrationSettings,
  role: ProgramName,
  { signer, self, announced }: RegisteringNode,
): RegistrationReport {
  const { registrationChainId: chainId, registrationAddress: address } = settings
  const isConstant = settings.registrationMessage === 'constant' || address === null
  const seconds = Math.floor(Date.now() / 1_000)
  const bound = isConstant ? { address: null, seconds: null } : { address, seconds }
  const statement: RegistrationStatement = { chainId, role, ...bound }
  const message = encodeRegistration(statement)
  const { id, addresses } = self()
  const reached = bestAddress(announced()) ?? bestAddress(addresses)
  return {
    status: 'ready',
    registration: {
      enabled: true,
      message: `0x${Buffer.from(message).toString('hex')}`,
      did: didOfKey(signer.identity),
      connection_string: reached === undefined ? '' : `${reached}/p2p/${id}`,
      source_chain: settings.chainName.toLowerCase(),
      source_chain_id: knownChainId(settings.chainName, settings.chainNetwork) ?? 0,
      defra_pk_registration: {
        public_key: `0x${signer.identity}`,
        signed_pk_message: `0x${signer.sign(message)}`,
      },
      endpoint_address: settings.registrationEndpoint ?? '',
    },
    statement: {
      chain_id: chainId,
      role,
      address: statement.address,
      signed_at:
        statement.seconds === null ? null : new Date(statement.seconds * 1_000).toISOString(),
    },
  }
}

/**
 * Registers a running node on the registry chain: asks it for its registration, checks that this is for the account that
 * signs, shows what it costs, and sends it. What is registered stays, for everybody to read.
 */
import { ServiceError } from '../../errors.ts'
import { awaitMined } from '../../registry/precompile/await-mined.ts'
import type {
  NodeRegistrar,
  NodeRegistration,
  PreparedRegistration,
} from '../../registry/precompile/node-client.ts'
import { ports } from '../../service/contract.ts'
import { reachOf } from '../../service/health/address-reach.ts'
import type { RegistrationReport } from '../../service/health/registration-route.ts'
import { parseHttpUrl } from '../cli/http-url.ts'
import { printResult, remark, toSingleLine } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { amountText } from '../wallet/coin-amount.ts'
import { findSigningKey, type KeyFlags } from '../wallet/signing-key.ts'
import {
  chainToSignFor,
  parseSpending,
  requireAffordable,
  type SpendingFlags,
} from '../wallet/spending.ts'
import { askRegistration, nodeRefused } from './registration-report.ts'

export interface RegisterFlags extends KeyFlags, SpendingFlags {
  readonly rpc: string
  readonly node?: string
  readonly allowPrivate?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

/**
 * @throws ServiceError `TOOLKIT_NODE_UNREACHABLE`, `TOOLKIT_NODE_UNPROVEN`, `TOOLKIT_NODE_REFUSED`,
 *   `TOOLKIT_CHAIN_REFUSED`, `TOOLKIT_FEE_HIGH`, `TOOLKIT_BALANCE_LOW`, what the wallet throws, and what the chain does.
 */
export async function registerNode(terminal: Terminal, flags: RegisterFlags): Promise<void> {
  const { node = `http://127.0.0.1:${ports.health}`, rpc, json, yes = false } = flags
  const rpcUrl = parseHttpUrl('--rpc', rpc, 'JSON-RPC').href
  const limits = parseSpending(flags)
  const nodeUrl = parseHttpUrl('--node', node, 'node').href
  const report = await askRegistration(nodeUrl, terminal.signal)
  const key = await findSigningKey(terminal, flags)
  const { createNodeClient } = await import('../../registry/precompile/node-client.ts')
  const client = createNodeClient(rpcUrl, terminal.signal)
  const chainId = await chainToSignFor(terminal, limits, client.chainId)
  requireOwn(report, key.address, chainId)
  const registration = toRegistration(report)
  requireReachable(registration.connection, flags)
  const prepared = await client.prepare(key.address, registration)
  const shown = toShown(report, key.address, chainId, prepared)
  if (!yes) {
    remark(terminal, 'nothing was sent; --yes sends it, for good: the chain removes nothing')
    return printResult(terminal, { ...shown, sent: false }, { json, text: textOf(shown, prepared) })
  }
  requireAffordable(prepared, key.address, limits)
  const signed = await client.sign(await key.privateKey(), registration, chainId, prepared)
  const { hash } = signed
  // Before it is sent: whoever is interrupted afterwards has to know it.
  remark(terminal, `sending ${hash}`)
  await client.send(signed)
  if (!(await awaitBlock(terminal, client, hash)))
    throw nodeRefused(
      `the chain reverted the transaction ${hash}`,
      'A Generator needs an assertion of its validator first; the chain may refuse an account or a node that is registered already.',
    )
  const text = `${textOf(shown, prepared)}\nTransaction  ${hash}`
  printResult(terminal, { ...shown, sent: true, transaction: hash }, { json, text })
}

/** Whether the chain took it. @throws ServiceError `TOOLKIT_REGISTRATION_TIMEOUT` where it is in no block */
async function awaitBlock(
  { signal }: Terminal,
  client: NodeRegistrar,
  hash: string,
): Promise<boolean> {
  const succeeded = await awaitMined(signal, () => client.succeeded(hash))
  if (succeeded !== null) return succeeded
  throw new ServiceError(
    'TOOLKIT_REGISTRATION_TIMEOUT',
    `the transaction ${hash} was sent and is in no block after two minutes`,
    { remedy: 'It may still be taken: ask the chain for it before you register again.' },
  )
}

/** A registration by another account would bind the node to that one. */
function requireOwn({ statement }: RegistrationReport, account: string, chainId: number): void {
  if (statement.address !== null && statement.address !== account)
    throw nodeRefused(
      `the node signs for ${statement.address}, and the key is that of ${account}`,
      'Register with that account, or set REGISTRATION_ADDRESS of the node to yours.',
    )
  if (statement.chain_id !== chainId)
    throw nodeRefused(
      `the node signs for chain ${statement.chain_id}, and this is for chain ${chainId}`,
      'Set REGISTRATION_CHAIN_ID of the node, or give another --rpc or --chain-id.',
    )
}

function toRegistration({ registration, statement }: RegistrationReport): NodeRegistration {
  const { public_key: publicKey, signed_pk_message: signature } = registration.defra_pk_registration
  const { message, connection_string: connection, endpoint_address: endpoint } = registration
  const found = { role: statement.role, publicKey, signature, message, connection, endpoint }
  if (found.role === 'host' && !/^https?:\/\//.test(endpoint))
    throw nodeRefused('the Host has no endpoint', 'Set REGISTRATION_ENDPOINT of the Host.')
  return found
}

/** What is registered stays, so an address that nobody can dial would be there for good. */
function requireReachable(connection: string, { allowPrivate = false }: RegisterFlags): void {
  const remedy = 'Set P2P_ANNOUNCE of the node to the address at which others reach it.'
  if (connection === '') throw nodeRefused('the node has no address that others reach', remedy)
  const reach = reachOf(connection)
  const shown = toSingleLine(connection).slice(0, 300)
  if (reach === 'nobody') throw nodeRefused(`no other machine reaches the node at ${shown}`, remedy)
  if (reach === 'private' && !allowPrivate)
    throw nodeRefused(
      `${shown} is an address of a private network`,
      `${remedy} --allow-private registers it nevertheless.`,
    )
}

interface Shown {
  readonly role: string
  readonly account: string
  readonly did: string
  readonly connection: string
  readonly endpoint: string
  readonly chainId: number
  readonly precompile: string
  readonly gas: string
  readonly fee: string
  readonly balance: string
}

function toShown(
  { registration, statement }: RegistrationReport,
  account: string,
  chainId: number,
  { to, gas, fee, balance }: PreparedRegistration,
): Shown {
  const { did, connection_string: connection, endpoint_address: endpoint } = registration
  return {
    ...{ role: statement.role, account, did, connection, endpoint, chainId, precompile: to },
    ...{ gas: String(gas), fee: String(fee), balance: String(balance) },
  }
}

function textOf(shown: Shown, { fee, balance }: PreparedRegistration): string {
  const amounts = { fee: `${amountText(fee)} at most`, balance: amountText(balance) }
  return Object.entries({ ...shown, ...amounts })
    .map(([name, value]) => `${name.padEnd(12)} ${toSingleLine(String(value))}`)
    .join('\n')
}

/**
 * `view deploy --target devnet --view-file`: registers a View without a project, in two steps of programs that share
 * no disk, such as Jobs of a cluster. The first says the terms and sends nothing; the second signs exactly these. Any
 * of it may be repeated and interrupted: the chain has the View once.
 */
import { resolve } from 'node:path'
import { createViewCheck } from '../../compute/view-check.ts'
import { ServiceError } from '../../errors.ts'
import { readBoundedFile } from '../../read-bounded.ts'
import { awaitMined } from '../../registry/precompile/await-mined.ts'
import type { RegistryClient } from '../../registry/precompile/registry-client.ts'
import { networkOfQuery } from '../../views/query-network.ts'
import { maxViewFile, parseViewFile } from '../../views/view-file.ts'
import { noSender, viewIDs } from '../../views/view-id.ts'
import { decodeView } from '../../views/wire.ts'
import { usageError } from '../cli/exit-code.ts'
import { parseHttpUrl } from '../cli/http-url.ts'
import { printResult, remark } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { rpcEndpoint } from '../project/endpoint.ts'
import { findSigningKey } from '../wallet/signing-key.ts'
import {
  chainToSignFor,
  parseSpending,
  requireAffordable,
  requireAllowedFee,
} from '../wallet/spending.ts'
import type { DeployFlags } from './deploy-flags.ts'
import { cometUrlOf } from './ended-registration.ts'
import { followRegistration } from './follow-registration.ts'
import { costOf, costText } from './registration-cost.ts'
import {
  failedOutcome,
  type RegistrationTerms,
  readTerms,
  writeOutcome,
} from './registration-terms.ts'
import { ownHash, stateOfSent } from './taken-nonce.ts'

/** Does the step that the flags name, and writes what came of it where they say: for a failure its code as well. */
export async function registerViewFile(
  terminal: Terminal,
  name: string,
  flags: DeployFlags,
): Promise<void> {
  const { prepare, send, report } = flags
  const path = prepare ?? report
  if (path === undefined || (prepare === undefined) === (send === undefined))
    throw usageError(
      '--view-file is given without a step',
      'Give --prepare FILE, or --send FILE with --report FILE.',
    )
  const file = resolve(terminal.cwd, path)
  let outcome: RegistrationTerms | RegistrationOutcome
  try {
    const step = await openStep(terminal, name, flags)
    outcome = prepare === undefined ? await sendOnTerms(step) : await prepareTerms(step)
  } catch (error) {
    await writeOutcome(file, failedOutcome(error))
    throw error
  }
  await writeOutcome(file, outcome)
  printResult(terminal, outcome, { json: true, text: '' })
}

interface Step {
  readonly terminal: Terminal
  readonly name: string
  readonly flags: DeployFlags
  readonly client: RegistryClient
  readonly endpoint: string
  /** The consensus RPC of the chain; null where that is not known. */
  readonly cometUrl: string | null
  readonly wire: Uint8Array
  readonly key: Awaited<ReturnType<typeof findSigningKey>>
}

async function openStep(terminal: Terminal, name: string, flags: DeployFlags): Promise<Step> {
  const url = parseHttpUrl('--rpc', flags.rpc ?? '', 'JSON-RPC')
  // Before anything is sent that it might be wanted for.
  const cometUrl = cometUrlOf(terminal, flags)
  const { createRegistryClient } = await import('../../registry/precompile/registry-client.ts')
  const client = createRegistryClient(url.href, terminal.signal)
  const wire = await readWire(resolve(terminal.cwd, flags.viewFile ?? ''))
  // On the chain it could not be corrected any more.
  createViewCheck(networkOfQuery(decodeView(wire).query))({
    ...{ sender: noSender, registeredAt: null, wire },
  })
  const key = await findSigningKey(terminal, flags)
  return { terminal, name, flags, client, endpoint: rpcEndpoint(url), cometUrl, wire, key }
}

async function readWire(path: string): Promise<Uint8Array> {
  try {
    return parseViewFile(await readBoundedFile(path, maxViewFile)).wire
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    throw new ServiceError('VIEWS_FILE_MALFORMED', `${path} is not a file of a View`, {
      remedy: 'Name a file as it lies in HOST_VIEWS_DIR.',
      cause,
    })
  }
}

/** Signs, since the hash is one of the terms, and forgets the signature. */
async function prepareTerms(step: Step): Promise<RegistrationTerms> {
  const { terminal, name, flags, client, endpoint, wire, key } = step
  const limits = parseSpending(flags)
  const creator = key.address
  const chainId = await chainToSignFor(terminal, limits, client.chainId)
  const terms = { ...viewIDs(creator, wire), creator, chainId, transaction: null }
  const { status } = await client.getView(terms.address)
  if (status !== 'none') {
    remark(terminal, `the chain knows this View already: ${status}`)
    return terms
  }
  const cost = await costOf(client, creator, wire)
  const shown = { view: name, revision: 1, id: terms.id, address: terms.address, creator }
  remark(terminal, costText(shown, { chainId, endpoint }, cost))
  requireAffordable(cost.estimate, creator, limits)
  const { gas, maxFeePerGas, maxPriorityFeePerGas, nonce } = cost.estimate
  const { hash } = await client.sign(await key.privateKey(), wire, chainId, cost.estimate)
  const fees = {
    ...{ gas: String(gas), maxFeePerGas: String(maxFeePerGas) },
    maxPriorityFeePerGas: String(maxPriorityFeePerGas),
  }
  return { ...terms, transaction: { hash, nonce, ...fees } }
}

/** What a registration came to; `gasUsed` is null where another transaction did it. */
interface RegistrationOutcome {
  readonly address: string
  readonly transaction: string | null
  readonly height: number
  readonly gasUsed: string | null
}

async function sendOnTerms(step: Step): Promise<RegistrationOutcome> {
  const { terminal, flags, client, cometUrl, wire, key } = step
  const terms = await readTerms(resolve(terminal.cwd, flags.send ?? ''))
  const creator = key.address
  const { id, address } = viewIDs(creator, wire)
  requireSame(terms, id, creator)
  await requireChain(step, terms)
  const { transaction } = terms
  const { status } = await client.getView(address)
  if (status === 'none' && transaction === null) throw gone(address)
  const hash =
    status === 'none' && transaction !== null
      ? await sendOnce(step, { chainId: terms.chainId, creator, address }, transaction)
      : await ownHash(client, transaction?.hash ?? null)
  const sent = { address, creator, wire, hash, cometUrl }
  const { height, gasUsed } = await followRegistration(terminal, client, sent)
  return { address, transaction: hash, height, gasUsed: gasUsed === null ? null : String(gasUsed) }
}

/** On another chain the View would be looked for where it is not to be, and the signature would be for nobody. */
async function requireChain(
  { terminal, flags, client }: Step,
  terms: RegistrationTerms,
): Promise<void> {
  const limits = parseSpending(flags)
  const chainId = await chainToSignFor(terminal, limits, client.chainId)
  if (chainId === terms.chainId) return
  const what = limits.chainId === null ? 'the node of --rpc is on' : '--chain-id names'
  throw new ServiceError(
    'TOOLKIT_CHAIN_REFUSED',
    `${what} chain ${chainId}: the terms are for chain ${terms.chainId}`,
    { remedy: 'Check --rpc. Where its node only names another ID, give --chain-id.' },
  )
}

function requireSame(terms: RegistrationTerms, id: string, signer: string): void {
  if (terms.creator.toLowerCase() !== signer.toLowerCase())
    throw new ServiceError(
      'TOOLKIT_SIGNER_CHANGED',
      `the terms are of ${terms.creator}, and the key is that of ${signer}`,
      { remedy: 'Put the key of that address back: the ID of the View follows from it.' },
    )
  if (terms.id === id) return
  throw new ServiceError('TOOLKIT_PREPARED_INVALID', `the terms are of another View, ${terms.id}`, {
    remedy: 'Make them again, with --prepare.',
  })
}

/** Sends it unless its place is taken. Its hash, null where another transaction registered the View meanwhile. */
async function sendOnce(
  { terminal, flags, client, wire, key }: Step,
  { chainId, creator, address }: Pick<RegistrationTerms, 'chainId' | 'creator' | 'address'>,
  transaction: NonNullable<RegistrationTerms['transaction']>,
): Promise<string | null> {
  const { hash, nonce } = transaction
  const price = {
    nonce,
    gas: BigInt(transaction.gas),
    maxFeePerGas: BigInt(transaction.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(transaction.maxPriorityFeePerGas),
  }
  const remedy = 'Allow it with --max-fee, or prepare it again where gas is cheaper.'
  requireAllowedFee(price.gas * price.maxFeePerGas, parseSpending(flags), remedy)
  const hashIn = (state: Awaited<ReturnType<typeof stateOfSent>>): string | null =>
    state === 'known' ? null : hash
  const sent = { creator, hash, nonce, address }
  const state = await stateOfSent(client, sent, terminal)
  if (state !== 'free') return hashIn(state)
  const signed = await client.sign(await key.privateKey(), wire, chainId, price)
  if (signed.hash !== hash)
    throw new ServiceError('TOOLKIT_PREPARED_INVALID', 'the terms lead to another transaction', {
      facts: { expected: hash, found: signed.hash },
      remedy: 'Make them again, with --prepare.',
    })
  try {
    await client.send(signed)
    remark(terminal, `sent ${hash}`)
    return hash
  } catch (error) {
    const reason = refusalOf(error)
    if (/chain.?id/i.test(reason)) throw chainRefused(chainId, reason, error)
    // Another one with this nonce waits for a block, and which of the two comes into one is not decided yet.
    const isTaken = async (): Promise<true | null> =>
      (await client.nonce(creator)) > nonce ? true : null
    if (!aboutNonce.test(reason) || !(await awaitMined(terminal.signal, isTaken))) throw error
    return hashIn(await stateOfSent(client, sent, terminal))
  }
}

const aboutNonce = /nonce|sequence|underpriced|replacement/i

/** In the words of the chain; empty where it is something else that failed. */
function refusalOf(error: unknown): string {
  const isRefusal = error instanceof ServiceError && error.code === 'REGISTRY_REFUSED'
  return isRefusal ? String(error.facts['reason']) : ''
}

/** It may sign with another ID than its node says, or the wrong one was named. */
function chainRefused(chainId: number, reason: string, cause: unknown): ServiceError {
  return new ServiceError(
    'TOOLKIT_CHAIN_REFUSED',
    `the chain takes nothing that is signed for chain ${chainId}: ${reason}`,
    { remedy: 'Prepare it again, with the ID of the chain as --chain-id.', cause },
  )
}

/** A chain drops a pending View that the other chain refused. */
function gone(address: string): ServiceError {
  return new ServiceError(
    'TOOLKIT_REGISTRATION_REFUSED',
    `the chain knew View ${address} when it was prepared, and knows it no longer`,
    { remedy: 'Prepare it again.' },
  )
}

/** `view deploy --target devnet`: registers a View on the registry chain and follows it until it is registered. */
import { resolve } from 'node:path'
import { createViewCheck } from '../../compute/view-check.ts'
import { invariant, ServiceError } from '../../errors.ts'
import { networkOfQuery } from '../../views/query-network.ts'
import { noSender, viewIDs } from '../../views/view-id.ts'
import { usageError } from '../cli/exit-code.ts'
import { parseHttpUrl } from '../cli/http-url.ts'
import { printResult, remark } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { rpcEndpoint } from '../project/endpoint.ts'
import { openProject, type Project } from '../project/project.ts'
import { askConsent, canAsk } from '../wallet/ask.ts'
import { findSigningKey } from '../wallet/signing-key.ts'
import {
  chainToSignFor,
  parseSpending,
  requireAffordable,
  requireAllowedFee,
  requireNamedChain,
  type SpendingLimits,
} from '../wallet/spending.ts'
import type { DeployFlags } from './deploy-flags.ts'
import { type Chain, dryRunPrepared, printDryRun, printNothingToSend } from './dry-run.ts'
import { cometUrlOf } from './ended-registration.ts'
import { followRegistration, type Registered } from './follow-registration.ts'
import { type Prepared, preparedPrice, readPrepared, writePrepared } from './prepared-file.ts'
import { type Registrant, shownOf } from './registrant.ts'
import { costOf, costText } from './registration-cost.ts'
import { ownHash, stateOfSent } from './taken-nonce.ts'

/**
 * Registers a View; one that is registered already stays as it is. `--dry-run` ends before anything is signed, `--prepare`
 * before anything is sent; `--send` sends what was prepared, twice as well as once.
 */
export async function deployToDevnet(
  terminal: Terminal,
  name: string,
  flags: DeployFlags,
): Promise<void> {
  if (flags.viewFile !== undefined) {
    const { registerViewFile } = await import('./view-file-registration.ts')
    return await registerViewFile(terminal, name, flags)
  }
  const url = parseHttpUrl('--rpc', flags.rpc ?? '', 'JSON-RPC')
  const limits = parseSpending(flags)
  const cometUrl = cometUrlOf(terminal, flags)
  const { createRegistryClient } = await import('../../registry/precompile/registry-client.ts')
  const client = createRegistryClient(url.href, terminal.signal)
  const chain = { client, endpoint: rpcEndpoint(url), cometUrl }
  const deployment = { chain, project: await openProject(terminal), limits, flags }
  if (flags.send === undefined) await deployFresh(terminal, name, deployment)
  else await deployPrepared(terminal, name, resolve(terminal.cwd, flags.send), deployment)
}

/** Where a View is registered, and what the command may do for that. */
interface Deployment {
  readonly chain: Chain
  readonly project: Project
  readonly limits: SpendingLimits
  readonly flags: DeployFlags
}

async function deployPrepared(
  terminal: Terminal,
  name: string,
  file: string,
  { chain, project, limits, flags }: Deployment,
): Promise<void> {
  const prepared = await readPrepared(file, name)
  requireNamedChain(prepared.chainId, limits)
  await requireNamedFee(prepared, limits, flags)
  if (flags.dryRun === true) return await dryRunPrepared(terminal, chain, prepared, flags)
  await sendPrepared(terminal, { project, chain, prepared, flags })
}

/** A View with the chain that a registration of it would be signed for. */
interface Unsigned {
  readonly registrant: Registrant
  readonly chainId: number
}

async function deployFresh(
  terminal: Terminal,
  name: string,
  deployment: Deployment,
): Promise<void> {
  const { chain, project, limits, flags } = deployment
  const { wire, revision, view } = await project.wire(name)
  // On the chain it could not be corrected any more.
  createViewCheck(networkOfQuery(view.query))({ sender: noSender, registeredAt: null, wire })
  const key = await findSigningKey(terminal, flags)
  const creator = key.address
  const registrant = { view: name, revision, ...viewIDs(creator, wire), creator, wire }
  const chainId = await chainToSignFor(terminal, limits, chain.client.chainId)
  const { status } = await chain.client.getView(registrant.address)
  if (status === 'none') await register(terminal, { registrant, chainId }, key, deployment)
  else await followKnown(terminal, { registrant, chainId }, status, deployment)
}

/** There is nothing to send, now or with what `--prepare` writes: `--send` then follows the View. */
async function followKnown(
  terminal: Terminal,
  unsigned: Unsigned,
  status: string,
  { chain, project, flags }: Deployment,
): Promise<void> {
  const { prepare, dryRun } = flags
  remark(terminal, `the chain knows this View already: ${status}`)
  if (prepare !== undefined) {
    const { registrant, chainId } = unsigned
    const prepared = { ...registrant, chainId, hash: null, raw: null }
    await writePrepared(resolve(terminal.cwd, prepare), prepared)
  }
  if (prepare !== undefined || dryRun === true)
    return printNothingToSend(terminal, { ...unsigned, transaction: null }, status, flags)
  await finish(terminal, { ...unsigned, project, chain, hash: null, flags })
}

async function register(
  terminal: Terminal,
  unsigned: Unsigned,
  key: Awaited<ReturnType<typeof findSigningKey>>,
  { chain, project, limits, flags }: Deployment,
): Promise<void> {
  const { registrant, chainId } = unsigned
  const { view, creator, wire } = registrant
  const { client, endpoint } = chain
  const cost = await costOf(client, creator, wire)
  remark(terminal, costText(registrant, { chainId, endpoint }, cost))
  if (flags.dryRun === true)
    return printDryRun(terminal, { ...unsigned, transaction: null }, cost, flags)
  requireAffordable(cost.estimate, creator, limits)
  if (flags.prepare === undefined) await requireConsent(terminal, flags)
  const signed = await client.sign(await key.privateKey(), wire, chainId, cost.estimate)
  const prepared = { ...registrant, chainId, ...signed }
  if (flags.prepare === undefined)
    return await sendPrepared(terminal, { project, chain, prepared, flags })
  await writePrepared(resolve(terminal.cwd, flags.prepare), prepared)
  const text = `prepared ${signed.hash} in ${flags.prepare}; viewmesh view deploy ${view} --target devnet --rpc URL --send FILE sends it`
  const value = { ...shownOf(registrant), chainId, transaction: signed.hash, state: 'prepared' }
  printResult(terminal, value, { json: flags.json, text })
}

/** Without `--max-fee` it may cost what was allowed when it was signed. */
async function requireNamedFee(
  prepared: Prepared,
  limits: SpendingLimits,
  { maxFee }: DeployFlags,
): Promise<void> {
  const price = maxFee === undefined ? null : await preparedPrice(prepared)
  if (price === null) return
  const remedy = 'Allow it with --max-fee, or prepare it again where gas is cheaper.'
  requireAllowedFee(price.fee, limits, remedy)
}

interface Sending {
  readonly project: Project
  readonly chain: Chain
  readonly prepared: Prepared
  readonly flags: DeployFlags
}

/** Written down before it is awaited, so that whoever is interrupted finds it in `view status`. */
async function sendPrepared(terminal: Terminal, sending: Sending): Promise<void> {
  const { project, chain, prepared, flags } = sending
  const { hash, raw, chainId } = prepared
  if (hash === null || raw === null)
    return await finish(terminal, { project, chain, registrant: prepared, hash, chainId, flags })
  const sent = await sendPlaced(terminal, chain, prepared, { hash, raw })
  await record(project, chain, prepared, { hash: sent, chainId, state: 'pending' })
  await finish(terminal, { project, chain, registrant: prepared, hash: sent, chainId, flags })
}

/**
 * Sends it where the chain does not know the View and its nonce is free: one that was signed a moment ago has the nonce that
 * the node said then. Its hash, null where another transaction registered the View.
 */
async function sendPlaced(
  terminal: Terminal,
  { client }: Chain,
  prepared: Prepared,
  signed: { readonly hash: string; readonly raw: string },
): Promise<string | null> {
  const { creator, address } = prepared
  const { hash } = signed
  const { status } = await client.getView(address)
  if (status !== 'none') {
    remark(terminal, `the chain knows this View already: ${status}`)
    return await ownHash(client, hash)
  }
  const price = await preparedPrice(prepared)
  invariant(price !== null, 'what is sent is signed')
  const state = await stateOfSent(client, { creator, hash, address, nonce: price.nonce }, terminal)
  if (state === 'free') {
    await client.send(signed)
    remark(terminal, `sent ${hash}`)
  } else if (state === 'mined') remark(terminal, `it was sent before: ${hash}`)
  return state === 'known' ? null : hash
}

interface Finishing {
  readonly project: Project
  readonly chain: Chain
  readonly registrant: Registrant
  /** Null where others sent it. */
  readonly hash: string | null
  readonly chainId: number
  readonly flags: DeployFlags
}

async function finish(terminal: Terminal, finishing: Finishing): Promise<void> {
  const { project, chain, registrant, hash, chainId, flags } = finishing
  const { client, cometUrl } = chain
  let outcome: Registered
  try {
    outcome = await followRegistration(terminal, client, { ...registrant, hash, cometUrl })
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'TOOLKIT_REGISTRATION_REFUSED')
      await record(project, chain, registrant, { hash, chainId, state: 'refused' })
    throw error
  }
  await record(project, chain, registrant, { hash, chainId, state: 'registered' })
  const { height, gasUsed } = outcome
  const value = { ...shownOf(registrant), chainId, transaction: hash, state: 'registered' }
  const text = [
    `${registrant.view} (version ${registrant.revision}) is registered at ${chain.endpoint}`,
    `ID:          ${registrant.id}`,
    `address:     ${registrant.address}`,
    `creator:     ${registrant.creator}`,
    `registered:  height ${height}`,
    ...(hash === null ? [] : [`transaction: ${hash}`]),
    ...(gasUsed === null ? [] : [`gas used:    ${gasUsed}`]),
    'Hosts that follow this chain serve it from now on.',
  ].join('\n')
  const spent = { height, gasUsed: gasUsed === null ? null : String(gasUsed) }
  printResult(terminal, { ...value, ...spent }, { json: flags.json, text })
}

interface Recorded {
  readonly hash: string | null
  readonly chainId: number
  readonly state: 'pending' | 'registered' | 'refused'
}

async function record(
  project: Project,
  { endpoint }: Chain,
  { view, revision, id, address, creator }: Registrant,
  { hash: transaction, chainId, state }: Recorded,
): Promise<void> {
  const at = new Date().toISOString()
  await project.addDeployment({
    ...{ view, revision, target: 'devnet', at, id, address, creator, endpoint },
    ...{ transaction, chainId, state },
  })
}

async function requireConsent(terminal: Terminal, { yes }: DeployFlags): Promise<void> {
  if (yes === true) return
  if (!canAsk(terminal))
    throw usageError(
      '--yes is required where nobody can be asked',
      'A registered View is permanent: add --yes, or look first with --dry-run.',
    )
  if (await askConsent(terminal, 'Register it? It is permanent and cannot be changed.')) return
  throw new ServiceError('TOOLKIT_DEPLOYMENT_DECLINED', 'nothing was sent', {
    remedy: 'Answer y, or give --yes.',
  })
}

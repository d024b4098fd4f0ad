/** Waits for a registration: first for its block, then for the other chain, which acknowledges it. */
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../errors.ts'
import { awaitMined } from '../../registry/precompile/await-mined.ts'
import type {
  RegistrationReceipt,
  RegistryClient,
} from '../../registry/precompile/registry-client.ts'
import { tolerateUnreachable } from '../../registry/precompile/tolerate-unreachable.ts'
import { openProgressLine } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { endText, findEnd } from './ended-registration.ts'

/** A View that was sent. */
interface Sent {
  readonly address: string
  readonly creator: string
  readonly wire: Uint8Array
  /** Of the transaction; null where others sent it. */
  readonly hash: string | null
  /** Where the chain is asked why it failed; null where nobody is. */
  readonly cometUrl: string | null
}

/** How it was registered. */
export interface Registered {
  readonly height: number
  /** Null where others sent it. */
  readonly gasUsed: bigint | null
}

const stepMs = 500

/** The chain itself waits five minutes for the other one. */
const acknowledgedWithinMs = 360_000

/** A node that is behind another one may not have a View yet. */
const appearsWithinMs = 5_000

/** How a registration ended is found a little later. */
const explainedWithinMs = 5_000

/**
 * Follows it to its end.
 * @throws ServiceError `TOOLKIT_REGISTRATION_REFUSED`, `TOOLKIT_REGISTRATION_TIMEOUT`, `REGISTRY_VIEW_MISMATCH`; those of
 *   the chain; the reason of the terminal's signal
 */
export async function followRegistration(
  terminal: Terminal,
  client: RegistryClient,
  sent: Sent,
): Promise<Registered> {
  const progress = openProgressLine(terminal)
  try {
    progress.show('waiting for a block')
    const receipt = sent.hash === null ? null : await mined(terminal, client, sent.hash)
    if (receipt !== null) await requireSuccess(client, sent, receipt)
    const waiting = { ...sent, sinceHeight: receipt?.height ?? 0 }
    const height = await acknowledged(terminal, client, waiting, (seconds) =>
      progress.show(`pending for ${seconds} s: the other chain has to acknowledge it`),
    )
    return { height, gasUsed: receipt?.gasUsed ?? null }
  } finally {
    progress.end()
  }
}

async function mined(
  { signal }: Terminal,
  client: RegistryClient,
  hash: string,
): Promise<RegistrationReceipt> {
  const receipt = await awaitMined(signal, () => client.receipt(hash))
  if (receipt === null) throw timedOut(hash, 'is in no block after two minutes')
  return receipt
}

async function requireSuccess(
  client: RegistryClient,
  { address, creator, wire }: Sent,
  receipt: RegistrationReceipt,
): Promise<void> {
  if (!receipt.succeeded) {
    // That it was reverted is known, whether or not the reason can be asked for.
    const found = await client.refusal(creator, wire).catch(() => null)
    const reason = found ?? 'the chain gives no reason'
    throw refused(`the transaction was reverted: ${reason}`, 'Remove the cause and deploy again.')
  }
  if (receipt.address === null || receipt.address === address) return
  throw new ServiceError(
    'REGISTRY_VIEW_MISMATCH',
    `the chain calls the View ${receipt.address}, and ${address} follows from its bytes`,
    { facts: { address }, remedy: 'Check that --rpc is a node of the registry chain.' },
  )
}

interface Waiting extends Sent {
  /** Of the block that has the transaction; 0 where others sent it, until the chain says it of the pending View. */
  readonly sinceHeight: number
}

/** The height of the registration. */
async function acknowledged(
  terminal: Terminal,
  client: RegistryClient,
  sent: Waiting,
  onWait: (seconds: number) => void,
): Promise<number> {
  const { address } = sent
  let { sinceHeight } = sent
  const began = performance.now()
  let answeredAt: number | null = null
  let wasPending = false
  for (;;) {
    const known = await tolerateUnreachable(began + acknowledgedWithinMs, () =>
      client.getView(address),
    )
    const now = performance.now()
    const waitedMs = now - began
    if (known !== null) answeredAt ??= now
    const { status, height } = known ?? { status: 'unknown', height: 0 }
    const hadTime = now - (answeredAt ?? now) > appearsWithinMs
    if (status === 'registered') return height
    if (status === 'pending') sinceHeight = height
    if (status === 'none' && (wasPending || hadTime))
      throw await dropped(terminal, client, { ...sent, sinceHeight })
    if (waitedMs > acknowledgedWithinMs) throw timedOut(address, 'is still pending')
    wasPending ||= status === 'pending'
    onWait(Math.floor(waitedMs / 1_000))
    await delay(stepMs, undefined, { signal: terminal.signal })
  }
}

const channelRemedy =
  'The channel of the registry chain is closed; there is nothing to do but to try later.'

/** The chain drops a View for either reason, and its consensus RPC alone tells which. */
async function dropped(
  terminal: Terminal,
  client: RegistryClient,
  { address, creator, wire, cometUrl, sinceHeight }: Waiting,
): Promise<ServiceError> {
  if (cometUrl === null)
    return await guessed(
      client,
      { creator, wire },
      'Deploy again; with --comet URL, or REGISTRY_RPC_URL, the reason is shown.',
    )
  const ended = { address, sinceHeight, withinMs: explainedWithinMs }
  try {
    const found = await findEnd(terminal, cometUrl, ended)
    if (found === null)
      return await guessed(client, { creator, wire }, 'Deploy again: the chain gives no reason.')
    const remedy =
      found.kind === 'timedOut' ? channelRemedy : 'Remove the cause if you can, and deploy again.'
    return refused(`the registration failed: ${endText(found)}`, remedy)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const remedy = `Deploy again. The reason cannot be asked for: ${error.message}.`
    return await guessed(client, { creator, wire }, remedy)
  }
}

/** Only a time-out closes the channel of the chain. */
async function guessed(
  client: RegistryClient,
  { creator, wire }: Pick<Sent, 'creator' | 'wire'>,
  remedy: string,
): Promise<ServiceError> {
  // That it failed is known, whether or not the reason can be asked for.
  const reason = await client.refusal(creator, wire).catch(() => null)
  if (reason === null)
    return refused(`the registration failed: ${endText({ kind: 'refused', error: '' })}`, remedy)
  const { isChannelClosed } = await import('../../registry/precompile/rpc-failure.ts')
  return isChannelClosed(reason)
    ? refused(`the registration failed: ${endText({ kind: 'timedOut', error: '' })}`, channelRemedy)
    : refused(
        `the registration failed, and the chain refuses it now: ${reason}`,
        'Remove the cause and deploy again.',
      )
}

function refused(message: string, remedy: string): ServiceError {
  return new ServiceError('TOOLKIT_REGISTRATION_REFUSED', message, { remedy })
}

function timedOut(what: string, state: string): ServiceError {
  return new ServiceError('TOOLKIT_REGISTRATION_TIMEOUT', `${what} ${state}`, {
    remedy: 'viewmesh view status shows what becomes of it; deploying again waits on.',
  })
}

/** Opens the parts of an application, joins them, and closes them in order. */
import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import { ServiceError } from '../errors.ts'
import { type Graphql, openGraphql } from '../graphql/graphql.ts'
import { attestationsAt } from '../graphql/rows/block-seals.ts'
import { runtimeVersion } from '../lens/program/run-limits.ts'
import { openP2p, type P2p } from '../p2p/p2p.ts'
import { collections } from '../primitives/collections.ts'
import { createInTurn } from '../primitives/in-turn.ts'
import { openLog } from '../service/log.ts'
import { peerAtEnd } from '../service/settings/peer-at-end.ts'
import type { StoreReader, StoreWriter } from '../store/store.ts'
import { openWriter } from '../store/write/writer.ts'
import { type AcceptedHosts, openAcceptedHosts } from './accepted-hosts.ts'
import { createStateReport } from './app-state.ts'
import { type Changes, createChanges, untilSo } from './changes.ts'
import type { App, AppOptions } from './contract.ts'
import { createDiskBound } from './disk-bound.ts'
import type { FollowerParts } from './follow/follow-state.ts'
import { openRowFollower, type RowFollower } from './follow/follower.ts'
import { type HostLinks, openHostLinks } from './follow/host-links.ts'
import type { Patience } from './follow/patience.ts'
import { openRefill, type Refill } from './follow/refill.ts'
import { createSlices } from './follow/slices.ts'
import { type FollowedViews, openFollowedViews } from './followed-views.ts'
import { type CheckedOptions, checkOptions } from './options.ts'
import { createQueries } from './queries.ts'
import { verifyRow } from './row-proof.ts'
import { createSeenRows } from './seen-rows.ts'
import { withAppRemedy } from './store-remedies.ts'
import { appGaps } from './view-gaps.ts'

/** An application has the thread for itself, and its users wait for one answer at a time. */
const limits = {
  maxDepth: 15,
  maxConditions: 2_000,
  maxCost: 20_000_000,
  maxRows: 100_000,
  maxResultBytes: 256 * 1024 * 1024,
  maxMs: 60_000,
  maxHeldBytes: 512 * 1024 * 1024,
} as const

interface RunningOptions extends AppOptions {
  readonly patience: Patience
}

/** As `openApp`, with a patience of one's own. */
export async function openRunningApp(options: RunningOptions): Promise<App> {
  const { patience, ...given } = options
  const checked = { ...checkOptions(given), patience }
  options.signal?.throwIfAborted()
  const log = options.log ?? openLog({ name: 'app', level: 'error' }, { write: () => undefined })
  const registry = new Registry()
  const closing = new AbortController()
  const store = await openWriter(
    { path: checked.path, network: checked.network, program: 'app', retainBlocks: null },
    { log },
  ).catch((error: unknown) => {
    throw withAppRemedy(error)
  })
  const app = await openParts(checked, { log, registry, store, closing }).catch(
    async (error: unknown) => {
      await store.close()
      throw error
    },
  )
  await closeWith(app, options.signal, log)
  return app
}

/** Closes an application when a signal is aborted, also where it was before. Throws the signal's reason then. */
async function closeWith(app: App, signal: AbortSignal | undefined, log: Logger): Promise<void> {
  signal?.addEventListener('abort', () => {
    app.close().catch((error) => log.error({ err: error }, 'the application could not be closed'))
  })
  if (!signal?.aborted) return
  await app.close()
  throw signal.reason
}

interface AppParts {
  readonly log: Logger
  readonly registry: Registry
  readonly store: StoreWriter
  readonly closing: AbortController
}

async function openParts(
  checked: CheckedOptions & Pick<RunningOptions, 'patience'>,
  parts: AppParts,
): Promise<App> {
  const { store, closing, log, registry } = parts
  const { reader } = store
  const graphql = openEngine(checked, { log, registry, reader })
  const changes = createChanges(() => state(), log)
  const views = await openFollowedViews(
    { network: checked.network, ids: checked.views, minimumHosts: checked.minimumHosts },
    { log, store, onChange: graphql.setViews },
  )
  const accepted = acceptHosts(checked, store)
  const p2p = await openNode(checked, { log, registry })
  let failure: string | null = null
  const onFatal = (cause: unknown): void => {
    const error = withAppRemedy(cause)
    log.error({ err: error }, 'the store of the application failed')
    failure ??= explained(error)
    closing.abort(error)
    changes.note()
  }
  const following = {
    ...{ p2p, store, views, accepted, log, onChange: changes.note, onFatal },
    inTurn: createInTurn(),
    slices: createSlices(graphql.scheduler.nextTurn),
    ...visible(checked, { store, graphql, views, log, onFatal, onChange: changes.note }),
  }
  const options = { ...checked, peers: [...new Set(checked.peers.map(peerAtEnd))] }
  const follower = openRowFollower(options, following)
  const links = openHostLinks(options, { ...following, follower })
  const refill = openRefill(options, { ...following, links })
  closing.signal.addEventListener('abort', () => {
    void refill.close()
    void links.close()
  })
  const { minimumHosts } = checked
  const { isAccepted } = accepted
  const isReady = (): boolean => areServed(graphql, views)
  const state = createStateReport({
    ...{ reader, views, follower, links, minimumHosts, isAccepted },
    failure: () => failure,
  })
  const orClosed = (signal: AbortSignal | undefined): AbortSignal =>
    signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal])
  let closed: Promise<void> | undefined
  return {
    ...createQueries({ graphql, isReady }, checked, closing.signal),
    verifyDocument: (row) =>
      reader.read((snapshot) =>
        verifyRow(snapshot, row, {
          views,
          isAcceptedHost: accepted.isAccepted,
          signers: checked.signers,
        }),
      ),
    state,
    onChange: changes.listen,
    untilReady: (signal) => untilSo(isReady, graphql.onViews, orClosed(signal)),
    untilLive: (signal) =>
      untilSo(
        () => state().views.every((view) => view.state === 'live'),
        changes.listen,
        orClosed(signal),
      ),
    close: () => {
      closed ??= closeParts({ closing, changes, refill, links, follower, p2p, store })
      return closed
    },
  }
}

/** In this order: nothing is written once the store closes. */
async function closeParts({
  closing,
  changes,
  refill,
  links,
  follower,
  p2p,
  store,
}: Pick<AppParts, 'closing' | 'store'> & {
  readonly changes: Changes
  readonly refill: Refill
  readonly links: HostLinks
  readonly follower: RowFollower
  readonly p2p: P2p
}): Promise<void> {
  closing.abort(new Error('the application is closed'))
  changes.close()
  await refill.close()
  await links.close()
  await follower.close()
  await p2p.close()
  await store.close()
}

function openEngine(
  { network }: CheckedOptions,
  parts: Pick<AppParts, 'log' | 'registry'> & { readonly reader: StoreReader },
): Graphql {
  const names = Object.values(collections).map(({ name }) => name)
  const served = [...names, 'AttestationRecord'] as const
  return openGraphql({ network, limits, collections: served, viewGaps: appGaps }, parts)
}

/** A Host that comes back is followed soon; so few peers can be dialled as often. */
const redialMaxMs = 3_000

/** Connects to the peers and to nobody else, under another peer ID each time. */
function openNode(
  { network, peers }: CheckedOptions,
  { log, registry }: Pick<AppParts, 'log' | 'registry'>,
): Promise<P2p> {
  const source = { range: () => null, heights: () => [], sealedBlock: () => null }
  return openP2p(
    {
      peerSeed: randomBytes(32),
      network,
      listen: [],
      bootstrapPeers: peers,
      limits: { redialMaxMs },
    },
    { log, registry, source, handlers: {} },
  )
}

function acceptHosts({ hosts, peers }: CheckedOptions, store: StoreWriter): AcceptedHosts {
  return openAcceptedHosts(
    { listed: hosts, peers: peers.map(peerAtEnd) },
    {
      store,
      onChange: (accepted) =>
        store.reader.countRowVotesOf({ hosts: accepted, runtime: runtimeVersion }),
    },
  )
}

interface VisibleParts extends Pick<AppParts, 'store' | 'log'> {
  readonly graphql: Graphql
  readonly views: FollowedViews
  readonly onFatal: (error: unknown) => void
  readonly onChange: () => void
}

/** Says to subscribers what can be seen, once the blocks have their attestations. */
function visible(
  { maxBytes, minimumAttestations }: CheckedOptions,
  { store, graphql, views, log, onFatal, onChange }: VisibleParts,
): Pick<FollowerParts, 'onHeight' | 'onSealed' | 'onRemoved'> {
  const keepBound = createDiskBound({ maxBytes }, { store, log, onFatal })
  const seen = createSeenRows({
    isAttested: (height) =>
      minimumAttestations === 0 ||
      store.reader.read((snapshot) => attestationsAt(snapshot, height) >= minimumAttestations),
    names: () => views.list().map(({ name }) => name),
    notify: graphql.notifyRows,
  })
  return {
    onHeight: ({ name }, height) => {
      keepBound()
      onChange()
      seen.onStored(name, height)
    },
    onSealed: seen.onSealed,
    onRemoved: seen.onRemoved,
  }
}

function explained(error: unknown): string {
  if (!(error instanceof ServiceError)) return String(error)
  const { message, remedy } = error
  return remedy === undefined ? message : `${message.replace(/\.$/, '')}. ${remedy}`
}

function areServed(graphql: Graphql, views: FollowedViews): boolean {
  const served = new Set(graphql.views().map(({ name }) => name))
  return views.ids.every((id) => served.has(views.find(id)?.name ?? ''))
}

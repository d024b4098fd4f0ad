/**
 * A Host's mesh side with its store, on loopback, for one test. What the writer thread does happens
 * on the test's own thread: starting one costs more than most tests.
 */
import type { TestContext } from 'node:test'
import { Registry } from 'prom-client'
import type { Writer } from '../../../src/host/apply/writer.ts'
import { hostSettings, retainedOf, trustModeOf } from '../../../src/host/config.ts'
import { type HostMesh, openHostMesh } from '../../../src/host/mesh.ts'
import { createHostMetrics, type HostMetrics } from '../../../src/host/metrics.ts'
import { createHostStatus, type HostStatusReporter } from '../../../src/host/status.ts'
import { storedHead } from '../../../src/host/stored-range.ts'
import type { SignersFile } from '../../../src/host/trust/signers-file.ts'
import { openTrust, type Trust } from '../../../src/host/trust/trust.ts'
import { loadSettings } from '../../../src/service/settings/settings.ts'
import type { StoreReader } from '../../../src/store/store.ts'
import { type CapturedLog, captureLog } from '../../support/captured-log.ts'
import { testSigner } from '../../support/chain/sealed-blocks.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { testDirectory } from '../../support/test-store.ts'
import { openLocalWriter } from './local-writer.ts'

const network = 'Local__Devnet'

export interface TestHost {
  readonly mesh: HostMesh
  /** Other bootstrap peers from now on, as after a change of their file. */
  setBootstrapPeers(addresses: readonly string[]): void
  readonly writer: Writer
  readonly reader: StoreReader
  readonly status: HostStatusReporter
  readonly trust: Trust
  readonly metrics: HostMetrics
  readonly registry: Registry
  readonly captured: CapturedLog
  readonly path: string
  readonly id: string
  /** Where others dial it, with its peer ID. */
  readonly address: string
  /** Resolves when the highest stored block has this height, or is above it. */
  reached(height: number): Promise<void>
  /** Resolves when the condition holds; checked after each stored block. */
  stored(condition: () => boolean): Promise<void>
  /** Lets this many milliseconds pass for the writer, all at once. */
  pass(ms: number): void
  close(): Promise<void>
}

export interface TestHostSetup {
  readonly peers?: readonly string[]
  /** The store of an earlier Host. */
  readonly path?: string
  /** Hosts of different names have different peer IDs. */
  readonly name?: string
  readonly env?: Readonly<Record<string, string>>
  /** The file of signers. Default none. */
  readonly signersFile?: SignersFile
  /** The file of Hosts. Default none. */
  readonly hostsFile?: SignersFile
  /** See `VoteSyncOptions`. */
  readonly compareVotesMs?: number
  /** See `SyncOptions`. */
  readonly uselessMs?: number
}

/** Opens a Host of the network `Local__Devnet`; the test need not close it. */
export async function openTestHost(t: TestContext, setup: TestHostSetup = {}): Promise<TestHost> {
  const settings = loadSettings(hostSettings, {
    argv: [],
    env: {
      DB_KEYRING_SECRET: 'not used here',
      CHAIN_NAME: 'Local',
      CHAIN_NETWORK: 'Devnet',
      DB_P2P_LISTEN_ADDR: '/ip4/127.0.0.1/tcp/0',
      BOOTSTRAP_PEERS: (setup.peers ?? []).join(','),
      ...setup.env,
    },
  })
  const { name = 'host', compareVotesMs = 60_000, uselessMs } = setup
  const { signersFile = null, hostsFile = null } = setup
  const signer = testSigner(`host:${name}`)
  const { retainBlocks } = retainedOf(settings)
  const path = setup.path ?? testDirectory(t)
  const captured = captureLog()
  const { log } = captured
  const registry = new Registry()
  const status = createHostStatus(settings)
  const onFatal = (error: unknown): void => log.fatal({ err: error }, 'failed')
  const {
    writer,
    reader,
    pass,
    close: closeWriter,
  } = await openLocalWriter({ path, network, retainBlocks }, { log, onFatal })
  const metrics = createHostMetrics(registry, status.gauges)
  const trust = openTrust(
    {
      mode: trustModeOf(settings),
      listed: settings.trustedSigners,
      listedHosts: settings.trustedHosts,
      own: signer.identity,
      network,
    },
    { log, writer, reader, file: signersFile, hostsFile, onFatal },
  )
  status.report({ reader, trust })
  const waiting = new Set<() => void>()
  const mesh = await openHostMesh(
    {
      compareVotesMs,
      ...(uselessMs === undefined ? {} : { uselessMs }),
      settings,
      network,
      peerSeed: createSeededRandom(name).bytes(32),
    },
    {
      log,
      registry,
      metrics,
      onFollow: status.onFollow,
      onStored: status.onStored,
      writer,
      reader,
      trust,
      signer,
      notify: () => {
        for (const look of [...waiting]) look()
      },
      onFatal,
    },
  )
  status.report({ p2p: mesh.p2p, siblings: mesh.siblings })
  const stored = (condition: () => boolean): Promise<void> => {
    if (condition()) return Promise.resolve()
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
    })
  }
  let closed: Promise<void> | null = null
  const closeAll = async (): Promise<void> => {
    trust.close()
    status.report({ p2p: null, siblings: null })
    await mesh.close()
    await closeWriter()
  }
  const close = (): Promise<void> => {
    closed ??= closeAll()
    return closed
  }
  t.after(close)
  const { id, addresses } = mesh.p2p.self()
  return {
    mesh,
    setBootstrapPeers: (peers) => {
      mesh.p2p.setBootstrapPeers(peers)
      trust.setBootstrapPeers(peers, true)
    },
    writer,
    reader,
    status,
    trust,
    metrics,
    registry,
    captured,
    path,
    id,
    address: `${addresses.at(-1)}/p2p/${id}`,
    stored,
    reached: (height) => stored(() => storedHead(reader) >= height),
    pass,
    close,
  }
}

/** A development registry, and an author who deploys to it. */
import type { TestContext } from 'node:test'
import {
  type DevelopmentRegistry,
  openDevelopmentRegistry,
} from '../../../../src/devnet/registry/development-registry.ts'
import { createRegistryClient } from '../../../../src/registry/precompile/registry-client.ts'
import { until } from '../../../support/p2p-room.ts'
import { openTestTerminal } from '../../support/test-terminal.ts'

/** What `view deploy --json` prints, of what is compared. */
export interface Printed {
  readonly address: string
  readonly id: string
  readonly transaction: string
  readonly state: string
  readonly gasUsed: string | null
}

/** Where Views are deployed from. */
interface RegistryRoom {
  readonly registry: DevelopmentRegistry
  readonly terminal: Awaited<ReturnType<typeof openTestTerminal>>
  readonly key: string
  deploy(
    ...flags: (string | Readonly<Record<string, string>>)[]
  ): ReturnType<RegistryRoom['terminal']['run']>
}

/** A development registry, and a project whose View `Payments` is deployed to it. */
export async function openRegistryRoom(
  t: TestContext,
  acknowledgeMs: number | null = 100,
  options: { readonly signingChainId?: number } = {},
): Promise<RegistryRoom> {
  const registry = await openDevelopmentRegistry({ acknowledgeMs, ...options })
  t.after(() => registry.close())
  const terminal = await openTestTerminal(t)
  const [key = ''] = registry.accounts
  await terminal.json(
    ...['view', 'create', 'Payments', '--query', 'Log { address }'],
    ...['--sdl', 'type Payments { address: String }'],
  )
  return {
    ...{ registry, terminal, key },
    async deploy(...given) {
      const flags = given.filter((each) => typeof each === 'string')
      const env = given.find((each) => typeof each !== 'string') ?? { VIEWMESH_PRIVATE_KEY: key }
      const argv = ['view', 'deploy', 'Payments', '--target', 'devnet', '--rpc', registry.rpcUrl]
      return await terminal.run([...argv, ...flags, '--json'], { env })
    },
  }
}

/** The newest height of the chain. */
export async function heightOf({ cometUrl }: DevelopmentRegistry): Promise<number> {
  const response = await fetch(`${cometUrl}/status`)
  const { result } = (await response.json()) as {
    result: { sync_info: { latest_block_height: string } }
  }
  return Number(result.sync_info.latest_block_height)
}

/** Waits for this status of a View. */
export async function untilStatus(
  { rpcUrl }: DevelopmentRegistry,
  address: string,
  wanted: string,
): Promise<void> {
  const client = createRegistryClient(rpcUrl, AbortSignal.timeout(30_000))
  await until(async () => (await client.getView(address)).status === wanted)
}

/** The address of the View that waits. */
export async function pendingOf({ cometUrl }: DevelopmentRegistry): Promise<string> {
  const query = encodeURIComponent('"view.view_pending.address EXISTS"')
  for (;;) {
    const response = await fetch(`${cometUrl}/tx_search?query=${query}`)
    const { result } = (await response.json()) as { result: { txs: Found[] } }
    const [found] = result.txs
    const pending = found?.tx_result.events.find(({ type }) => type === 'view.view_pending')
    const attributes = pending?.attributes
    if (attributes !== undefined)
      return attributes.find(({ key }) => key === 'address')?.value ?? ''
  }
}

interface Found {
  readonly tx_result: {
    readonly events: readonly {
      readonly type: string
      readonly attributes: readonly { readonly key: string; readonly value: string }[]
    }[]
  }
}

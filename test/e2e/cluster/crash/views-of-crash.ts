/** The Views of the kills at random moments: some come and go, others are registered by Jobs, each by a signer of its own. */
import assert from 'node:assert/strict'
import { privateKeyToAddress } from 'viem/accounts'
import type { ViewStatus } from '../../../../operator/api/view-status.ts'
import type { SeededRandom } from '../../../support/seeded-random.ts'
import type { Cluster } from '../support/cluster.ts'
import { clusterImage } from '../support/cluster-image.ts'
import { eventually, type Namespaced, type Written } from '../support/cluster-resources.ts'
import { openReachableRegistry } from '../views/reachable-registry.ts'

const local = ['six', 'seven'] as const
const published = ['eight', 'nine'] as const
const nowhere = { matchLabels: { tier: 'nowhere' } }

interface ViewsOfCrash {
  /** What the operator needs for them. */
  readonly env: Readonly<Record<string, string>>
  /** A change that may come at any time. */
  change(random: SeededRandom): () => Promise<void>
  /** All that come and go are there, whatever was. */
  write(): Promise<void>
  /** Waits until a Host has exactly these, under the same IDs as ever. */
  handedTo(host: string): Promise<void>
  /** Waits until the chain has each of the others, and looks whether it has it once. */
  registered(): Promise<void>
  close(): Promise<void>
}

export async function openViewsOfCrash({
  cluster,
  here,
}: {
  readonly cluster: Cluster
  readonly here: Namespaced
}): Promise<ViewsOfCrash> {
  const chain = await openReachableRegistry(cluster)
  const keyOf = (name: (typeof published)[number]): `0x${string}` =>
    chain.registry.accounts[published.indexOf(name)] as `0x${string}`
  for (const name of published) {
    await cluster.apply(here.path('Secret', name), {
      ...{ apiVersion: 'v1', kind: 'Secret' },
      metadata: { name },
      stringData: { key: keyOf(name) },
    })
  }
  const publishedView = (name: string): Written => {
    const signerSecretRef = { name, key: 'key' }
    const registration = { rpcUrl: chain.rpcUrl, signerSecretRef }
    return viewOf(name, { registration, hostSelector: nowhere })
  }
  const sent = async (name: (typeof published)[number]): Promise<number> => {
    const params = [privateKeyToAddress(keyOf(name)), 'latest']
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_getTransactionCount', params }
    const init = { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(chain.registry.rpcUrl, init)
    return Number(((await answer.json()) as { readonly result: string }).result)
  }
  const files = new Map<string, string>()
  return {
    env: { TOOLKIT_IMAGE: clusterImage('toolkit') },
    change: (random) => {
      const [coming, going] = [random.pick(local), random.pick(local)]
      const sending = random.pick(published)
      return random.pick([
        async () => await here.write(viewOf(coming)),
        async () => await here.delete('View', going),
        async () => await here.write(publishedView(sending)),
      ])
    },
    write: async () => {
      for (const name of local) await here.write(viewOf(name))
    },
    handedTo: async (host) => {
      for (const name of local) {
        const { viewID } = await eventually(async () => {
          const status = (await here.status('View', name)) as ViewStatus
          assert.ok(status.viewID)
          return status
        })
        const file = `${viewID}.view`
        assert.equal(files.get(name) ?? file, file, `View ${name} has another ID`)
        files.set(name, file)
      }
      await eventually(async () => {
        const found = await here.find('ConfigMap', `${host}-host-views-0`)
        const { binaryData = {} } = (found ?? {}) as { readonly binaryData?: object }
        assert.deepEqual(Object.keys(binaryData).toSorted(), [...files.values()].toSorted())
      })
    },
    registered: async () => {
      for (const name of published) await here.write(publishedView(name))
      for (const name of published) {
        await here.reason('View', name, 'Registered', 'Registered')
        assert.equal(await sent(name), 1, `View ${name} was sent more than once`)
      }
    },
    close: chain.close,
  }
}

function viewOf(name: string, more: object = {}): Written {
  const definition = { query: 'Log { address }', sdl: `type Of_${name} { address: String }` }
  return { kind: 'View', name, spec: { definition, ...more } }
}

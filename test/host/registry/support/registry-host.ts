/** A whole Host that follows the development registry, and Views that are registered there. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  type DevelopmentRegistry,
  openDevelopmentRegistry,
} from '../../../../src/devnet/registry/development-registry.ts'
import type { View } from '../../../../src/views/view.ts'
import { encodeView } from '../../../../src/views/wire.ts'
import { openHostInProcess } from '../../../support/host-in-process.ts'
import { until } from '../../../support/p2p-room.ts'

/** Views are acknowledged where a test says so. */
export const byHand = { acknowledgeMs: null }
const token = 'admin'
export const author: string = `0x${'11'.repeat(20)}`
export const stranger: string = `0x${'66'.repeat(20)}`

export function wireOf(name: string, view: Partial<View> = {}): Uint8Array {
  const sdl = `type ${name} { address: String }`
  return encodeView({ query: 'Log { address }', sdl, lenses: [], ...view })
}

export async function register(
  registry: DevelopmentRegistry,
  names: readonly string[],
  sender: string = author,
): Promise<string[]> {
  const addresses: string[] = []
  for (const name of names) addresses.push(await registry.register(sender, wireOf(name)))
  await registry.settle({ registered: addresses })
  return addresses
}

export async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'viewmesh-registered-'))
  t.after(() => rm(path, { recursive: true, force: true }))
  return path
}

interface Listed {
  readonly views: readonly {
    id: string
    address: string
    name: string
    state: string
    registered_at: number
  }[]
  readonly registry: {
    state: string
    listed: number
    others: { id: string; state: string; reason: string | null }[]
  } | null
}

interface RegistryHost extends Awaited<ReturnType<typeof openHostInProcess>> {
  list(): Promise<Listed>
  /** Of all Views that are served, sorted. */
  names(): Promise<string[]>
  remove(id: string): Promise<Response>
  post(name: string): Promise<Response>
  postWire(wire: Uint8Array, sender: string): Promise<Response>
  find(id: string): Promise<Record<string, unknown>>
  /** Resolves once these Views are served, and no others. */
  serves(...names: string[]): Promise<void>
}

/** A Host that follows this registry. */
export async function openHost(
  t: TestContext,
  home: string,
  registry: Pick<DevelopmentRegistry, 'lcdUrl' | 'cometUrl'>,
  env: Readonly<Record<string, string>> = {},
): Promise<RegistryHost> {
  const host = await openHostInProcess(t, home, {
    REGISTRY_LCD_URL: registry.lcdUrl,
    REGISTRY_RPC_URL: registry.cometUrl,
    HOST_ADMIN_TOKEN: token,
    ...env,
  })
  const { apiPort } = await host.opened
  const url = `http://127.0.0.1:${apiPort}/api/v0/views`
  const headers = { authorization: `Bearer ${token}` }
  const list = async (): Promise<Listed> => (await (await fetch(url)).json()) as Listed
  return {
    ...host,
    list,
    names: async () => (await list()).views.map(({ name }) => name).toSorted(),
    remove: async (id: string) => await fetch(`${url}/${id}`, { method: 'DELETE', headers }),
    postWire: async (wire: Uint8Array, sender: string) =>
      await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ wire: Buffer.from(wire).toString('base64'), sender }),
      }),
    post: async (name: string) =>
      await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'Log { address }', sdl: `type ${name} { address: String }` }),
      }),
    find: async (id: string) =>
      (await (await fetch(`${url}/${id}`)).json()) as Record<string, unknown>,
    serves: (...names: string[]) =>
      until(async () => {
        const found = (await list()).views.map(({ name }) => name).toSorted()
        return found.join() === names.toSorted().join()
      }),
  }
}

export async function development(t: TestContext): Promise<DevelopmentRegistry> {
  const registry = await openDevelopmentRegistry(byHand)
  t.after(() => registry.close())
  return registry
}

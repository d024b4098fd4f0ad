import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  containerUser,
  homeDirectory,
  nodeOptions,
  operatorNodeOptions,
  ports,
} from '../../src/service/contract.ts'
import { startAnvil } from '../support/anvil.ts'
import { freePorts } from '../support/free-port.ts'
import {
  buildah,
  buildImages,
  type Image,
  inspectImage,
  storageDriver,
  testBase,
  withContainer,
} from '../support/image.ts'
import { repository } from '../support/repository.ts'

const prefix = 'localhost/viewmesh-test-'
const programs = ['generator', 'host', 'operator'] as const
const owner = `${containerUser.uid}:${containerUser.gid}`
const nameOf = (program: string, tag = 'test'): string => `${prefix}${program}:${tag}`

/** Paths of all files below a folder of a mounted image. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

describe('the images', { timeout: 1_800_000 }, () => {
  const images: Record<string, Image> = {}
  let base: Image

  before(async () => {
    await buildImages('--prefix', prefix, '--tag', 'test', '--base', testBase)
    base = await inspectImage(testBase)
    for (const program of programs) images[program] = await inspectImage(nameOf(program))
  })

  const ofOurs = (image: Image | undefined): readonly string[] =>
    image?.layers.slice(base.layers.length) ?? []

  for (const program of programs) {
    test(`${program}: runs as ${owner}, starts Node without a shell, and says what it is`, () => {
      const config = images[program]?.config
      assert.equal(config?.User, owner)
      assert.equal(config?.Entrypoint[0], 'node')
      assert.ok((config?.Cmd ?? []).length === 0)
      const { version } = JSON.parse(readFileSync(`${repository}/package.json`, 'utf8'))
      const labels = config?.Labels ?? {}
      assert.equal(labels['org.opencontainers.image.title'], `viewmesh-${program}`)
      assert.equal(labels['org.opencontainers.image.version'], version)
      assert.equal(labels['org.opencontainers.image.licenses'], 'Apache-2.0')
      assert.match(labels['org.opencontainers.image.revision'] ?? '', /^([0-9a-f]{40}|unknown)$/)
      assert.deepEqual(config?.Healthcheck?.Test.slice(0, 3), [
        'CMD',
        'node',
        '/opt/viewmesh/health-check.js',
      ])
    })

    test(`${program}: has the start options of the contract`, () => {
      const env = images[program]?.config.Env ?? []
      const options = program === 'operator' ? operatorNodeOptions : nodeOptions
      assert.ok(env.includes(`NODE_OPTIONS=${options.join(' ')}`), env.join(' '))
      assert.ok(env.includes('MALLOC_ARENA_MAX=2'))
      assert.ok(env.includes('NODE_ENV=production'))
    })

    test(`${program}: holds no source map, no types, no test and nothing of development`, async () => {
      await withContainer(nameOf(program), async (_, root) => {
        const files = filesBelow(join(root, 'opt/viewmesh')).map((path) => path.slice(root.length))
        const needless =
          /\.(map|d\.[cm]?ts|md)$|\.test\.js$|\/node_modules\/(typescript|@biomejs|@foundry-rs|playwright-core|solc|fast-check)\//
        assert.deepEqual(
          files.filter((path) => needless.test(path)),
          [],
        )
      })
    })
  }

  test('Generator and Host are the same layers, so that a node pulls them once', () => {
    assert.deepEqual(ofOurs(images['generator']), ofOurs(images['host']))
  })

  test('Generator and Host show the ports of the contract', () => {
    const shown = (program: string): string[] =>
      Object.keys(images[program]?.config.ExposedPorts ?? {}).toSorted()
    const all = Object.values(ports).map((port) => `${port}/tcp`)
    assert.deepEqual(shown('host'), all.toSorted())
    assert.deepEqual(
      shown('generator'),
      all.filter((port) => port !== `${ports.playground}/tcp`).toSorted(),
    )
  })

  test('what we add to the base stays small', async (t) => {
    for (const [program, maxBytes] of [
      ['generator', 45_000_000],
      ['operator', 45_000_000],
    ] as const) {
      await withContainer(nameOf(program), async (_, root) => {
        const files = filesBelow(join(root, 'opt/viewmesh'))
        const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0)
        t.diagnostic(`${program}: ${files.length} files, ${(bytes / 1e6).toFixed(1)} MB`)
        assert.ok(bytes < maxBytes, `${program}: ${bytes}`)
      })
    }
  })

  test('the home is the user’s, the program is not', async () => {
    await withContainer(nameOf('generator'), async (_, root) => {
      for (const folder of ['', 'keys', 'generator', 'host']) {
        const { uid, gid } = statSync(join(root, 'app', homeDirectory, folder))
        assert.equal(`${uid}:${gid}`, owner)
      }
      const { uid, mode } = statSync(join(root, 'opt/viewmesh/dist/src/main.js'))
      assert.deepEqual([uid, mode & 0o777], [0, 0o644])
    })
  })

  test('without any shell a Generator starts, seals blocks and passes its health check', async () => {
    const anvil = await startAnvil({ blockTime: 1 })
    try {
      await withContainer(nameOf('generator'), async (container, root) => {
        removeShells(root)
        assert.equal(existsSync(join(root, 'bin/sh')), false)
        const [health, api, p2p] = await freePorts(3)
        const settings = {
          CHAIN_NAME: 'Local',
          CHAIN_NETWORK: 'Devnet',
          DB_KEYRING_SECRET: 'a secret of this test',
          DB_API_ADDR: `127.0.0.1:${api}`,
          DB_P2P_LISTEN_ADDR: `/ip4/127.0.0.1/tcp/${p2p}`,
          HEALTH_ADDR: `127.0.0.1:${health}`,
          NODE_RPC_URL: anvil.url,
          GENERATOR_START_HEIGHT: '0',
        }
        const env = Object.entries(settings).flatMap(([name, value]) => [
          '--env',
          `${name}=${value}`,
        ])
        const options = ['--isolation', 'chroot', '--network', 'host', '--user', owner, ...env]
        const { Entrypoint: entrypoint } = (await inspectImage(nameOf('generator'))).config
        const args = ['--storage-driver', storageDriver, 'run', ...options, container, '--']
        const started = spawn('buildah', [...args, ...entrypoint], { stdio: 'inherit' })
        const ended = once(started, 'exit')
        const url = `http://127.0.0.1:${health}/health`
        assert.ok(await eventually(async () => (await headOf(url)) >= 1))
        const check = ['node', '/opt/viewmesh/health-check.js', 'HEALTH_ADDR', '8080', '/health']
        await buildah('run', ...options, container, '--', ...check)
        started.kill('SIGTERM')
        await ended
      })
    } finally {
      await anvil.close()
    }
  })

  function removeShells(root: string): void {
    for (const folder of ['bin', 'usr/bin']) {
      for (const shell of ['sh', 'bash', 'dash', 'rbash']) {
        rmSync(join(root, folder, shell), { force: true })
      }
    }
  }

  async function headOf(url: string): Promise<number> {
    const { head } = (await (await fetch(url)).json()) as { readonly head: number | null }
    return head ?? -1
  }

  /** Asks until the answer is yes, half a minute at most. */
  async function eventually(ask: () => Promise<boolean>): Promise<boolean> {
    for (let attempt = 0; attempt < 120; attempt += 1) {
      if (await ask().catch(() => false)) return true
      await sleep(250)
    }
    return false
  }

  test('built again without any cache, the layers have the same digests', async () => {
    await buildImages(
      '--prefix',
      prefix,
      '--tag',
      'again',
      '--base',
      testBase,
      '--no-cache',
      'generator',
    )
    const again = await inspectImage(nameOf('generator', 'again'))
    assert.deepEqual(ofOurs(again), ofOurs(images['generator']))
  })

  test('for arm64 the native parts are those of arm64; nothing of it is run here', async () => {
    const empty = nameOf('base', 'arm64')
    const scratch = await buildah('from', '--arch', 'arm64', 'scratch')
    await buildah('commit', '--quiet', '--rm', scratch, empty)
    const args = ['--arch', 'arm64', '--base', empty, '--build-base', testBase]
    await buildImages('--prefix', prefix, '--tag', 'arm64', ...args, 'generator')
    const name = nameOf('generator', 'arm64')
    assert.equal((await inspectImage(name)).architecture, 'arm64')
    await withContainer(name, async (_, root) => {
      const native = filesBelow(join(root, 'opt/viewmesh')).filter((path) => path.endsWith('.node'))
      assert.ok(native.some((path) => path.includes('@lmdb/lmdb-linux-arm64')))
      for (const path of native) assert.equal(machineOf(readFileSync(path)), 'arm64', path)
    })
  })
})

/** The machine an ELF file is for (e_machine: 62 is x86-64, 183 is AArch64). */
function machineOf(file: Buffer): string {
  const machine = file.readUInt16LE(18)
  return machine === 183 ? 'arm64' : String(machine)
}

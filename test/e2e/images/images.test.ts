import assert from 'node:assert/strict'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  containerUser,
  homeDirectory,
  nodeOptions,
  operatorNodeOptions,
  ports,
} from '../../../src/service/contract.ts'
import { startAnvil } from '../../support/chain/anvil.ts'
import { freePorts } from '../../support/free-port.ts'
import { repository } from '../../support/repository.ts'
import { buildah, buildImages, type Image, inspectImage, testBase, withContainer } from './image.ts'
import { withShelllessProgram } from './shellless-program.ts'

const prefix = 'localhost/viewmesh-test-'
const servers = ['generator', 'host', 'operator'] as const
const programs = [...servers, 'toolkit'] as const
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
      const check = ['CMD', 'node', '/opt/viewmesh/health-check.js']
      const isServer = servers.some((name) => name === program)
      assert.deepEqual(config?.Healthcheck?.Test.slice(0, 3), isServer ? check : ['NONE'])
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

  test('the toolkit lies on the layers of Generator and Host, which a node has already', () => {
    const service = ofOurs(images['host'])
    assert.deepEqual(ofOurs(images['toolkit']).slice(0, service.length), service)
  })

  test("images expose the ports of the contract, the operator's those of health and metrics", () => {
    const shown = (program: string): string[] =>
      Object.keys(images[program]?.config.ExposedPorts ?? {}).toSorted()
    const tcp = (numbers: readonly number[]): string[] =>
      numbers.map((port) => `${port}/tcp`).toSorted()
    assert.deepEqual(shown('host'), tcp(Object.values(ports)))
    assert.deepEqual(shown('generator'), tcp([ports.health, ports.p2p, ports.api]))
    assert.deepEqual(shown('operator'), ['8080/tcp', '8081/tcp'])
  })

  test('what we add to the base stays small', async (t) => {
    for (const [program, maxBytes] of [
      ['generator', 32_000_000],
      ['operator', 10_000_000],
      ['toolkit', 46_000_000],
    ] as const) {
      await withContainer(nameOf(program), async (_, root) => {
        const files = filesBelow(join(root, 'opt/viewmesh'))
        const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0)
        t.diagnostic(`${program}: ${files.length} files, ${(bytes / 1e6).toFixed(1)} MB`)
        assert.ok(bytes < maxBytes, `${program}: ${bytes}`)
      })
    }
  })

  test('the operator goes without the package that reads kubeconfigs, and what only that needs', async () => {
    await withContainer(nameOf('operator'), async (_, root) => {
      const modules = join(root, 'opt/viewmesh/node_modules')
      for (const name of ['@kubernetes', 'openid-client', 'js-yaml', 'tar-fs']) {
        assert.equal(existsSync(join(modules, name)), false, name)
      }
      assert.equal(existsSync(join(modules, 'undici')), true)
    })
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
    const settings = {
      ...(await settingsOf()),
      NODE_RPC_URL: anvil.url,
      GENERATOR_START_HEIGHT: '0',
    }
    try {
      await withShelllessProgram(nameOf('generator'), settings, async ({ report, run }) => {
        assert.ok(await eventually(async () => Number(await report('head')) >= 1))
        await run('node', '/opt/viewmesh/health-check.js', 'HEALTH_ADDR', '8080', '/health')
      })
    } finally {
      await anvil.close()
    }
  })

  test('without any shell a Host starts and reports its health', async () => {
    await withShelllessProgram(nameOf('host'), await settingsOf(), async ({ report }) => {
      assert.ok(await eventually(async () => (await report('network')) === 'Devnet'))
    })
  })

  test('without any shell the operator starts, and says that it finds no cluster', async () => {
    const settings = { GENERATOR_IMAGE: 'generator', HOST_IMAGE: 'host' }
    await withShelllessProgram(nameOf('operator'), settings, async ({ ended }) => {
      assert.match(await ended(), /OPERATOR_CONNECTION_MISSING/)
    })
  })

  test('the operator in a container says that it cannot read a kubeconfig there', async () => {
    const settings = { GENERATOR_IMAGE: 'generator', HOST_IMAGE: 'host', KUBECONFIG: '/config' }
    await withShelllessProgram(nameOf('operator'), settings, async ({ ended }) => {
      assert.match(await ended(), /this installation cannot read kubeconfigs/)
    })
  })

  test('the toolkit makes a View in its project as 1001, and nothing outside of it', async () => {
    await withContainer(nameOf('toolkit'), async (container, root) => {
      const { config } = await inspectImage(nameOf('toolkit'))
      const project = join(root, 'work')
      mkdirSync(project, { recursive: true })
      chownSync(project, containerUser.uid, containerUser.gid)
      const before = filesBelow(join(root, 'app')).length
      const viewmesh = (...argv: readonly string[]): Promise<string> =>
        buildah(
          ...['run', '--isolation', 'chroot', '--user', owner, container, '--'],
          ...[...config.Entrypoint, ...argv],
        )
      await viewmesh('view', 'init')
      await viewmesh('view', 'init', 'Payments')
      assert.match(await viewmesh('view', 'list'), /Payments/)
      assert.match(await viewmesh('wallet', '--help'), /Usage: viewmesh wallet/)
      assert.equal(filesBelow(join(root, 'app')).length, before)
      for (const path of filesBelow(join(root, 'opt/viewmesh'))) {
        assert.equal(statSync(path).uid, 0, path)
      }
    })
  })

  test('a Host says in which image the commands of the toolkit are', async () => {
    await withContainer(nameOf('host'), async (container) => {
      const args = ['run', '--isolation', 'chroot', container, '--']
      const main = ['node', '/opt/viewmesh/dist/src/main.js']
      assert.match(await buildah(...args, ...main, '--help'), /wallet/)
      await assert.rejects(buildah(...args, ...main, 'view', 'list'), /image viewmesh-toolkit/)
    })
  })

  async function settingsOf(): Promise<Readonly<Record<string, string>>> {
    const [api, p2p] = await freePorts(2)
    return {
      CHAIN_NAME: 'Local',
      CHAIN_NETWORK: 'Devnet',
      DB_KEYRING_SECRET: 'a secret of this test',
      DB_API_ADDR: `127.0.0.1:${api}`,
      DB_P2P_LISTEN_ADDR: `/ip4/127.0.0.1/tcp/${p2p}`,
    }
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
    const again = ['generator', 'operator', 'toolkit'] as const
    const args = ['--tag', 'again', '--base', testBase, '--no-cache']
    await buildImages('--prefix', prefix, ...args, ...again)
    for (const program of again) {
      const { layers } = await inspectImage(nameOf(program, 'again'))
      assert.deepEqual(layers.slice(base.layers.length), ofOurs(images[program]), program)
    }
  })

  test('for arm64 the native parts are those of arm64; nothing of it is run here', async () => {
    const empty = nameOf('base', 'arm64')
    const scratch = await buildah('from', '--arch', 'arm64', 'scratch')
    await buildah('commit', '--quiet', '--rm', scratch, empty)
    const args = ['--arch', 'arm64', '--base', empty, '--build-base', testBase]
    await buildImages('--prefix', prefix, '--tag', 'arm64', ...args)
    for (const program of programs) {
      const name = nameOf(program, 'arm64')
      assert.equal((await inspectImage(name)).architecture, 'arm64')
      await withContainer(name, async (_, root) => {
        const files = filesBelow(join(root, 'opt/viewmesh'))
        const native = files.filter((path) => path.endsWith('.node'))
        const hasStore = native.some((path) => path.includes('@lmdb/lmdb-linux-arm64'))
        assert.equal(hasStore, program !== 'operator')
        for (const path of native) assert.equal(machineOf(readFileSync(path)), 'arm64', path)
      })
    }
  })
})

/** The machine an ELF file is for (e_machine: 62 is x86-64, 183 is AArch64). */
function machineOf(file: Buffer): string {
  const machine = file.readUInt16LE(18)
  return machine === 183 ? 'arm64' : String(machine)
}

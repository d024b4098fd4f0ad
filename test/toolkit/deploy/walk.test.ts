/** docs/views/deploying.md: Views go to a registry chain by the commands of the page, and no Host misses one. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { blocksOf } from '../../docs/support/page.ts'
import { runShell } from '../../docs/support/run-shell.ts'
import { type ChildProgram, startChild } from '../../support/child-program.ts'
import { freePorts } from '../../support/free-port.ts'
import { openHostInProcess } from '../../support/host-in-process.ts'
import { until } from '../../support/p2p-room.ts'
import { testDirectory } from '../../support/test-store.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const page = 'docs/views/deploying.md'
const marker = 'run: test/toolkit/deploy/walk.test.ts'
/** The JSON-RPC of the stand-in, as the page calls it. */
const named = 'http://127.0.0.1:8645'
/** The funded key of the stand-in that the page shows. */
const key =
  blocksOf(page)
    .map(({ text }) => text.trim())
    .find((text) => /^0x[0-9a-f]{64}$/.test(text)) ?? ''

test('no Host misses a View that is deployed while the registry is killed and started', async (t) => {
  const registry = await startRegistry(t)
  const author = await openAuthor(t, registry.rpcUrl)
  const first = await openHost(t, registry)
  await until(async () => (await first.state()) === 'live')
  await author.follow(0)
  await first.serves([/^Payments$/])
  const second = await openHost(t, registry)
  await second.serves([/^Payments$/])

  await author.follow(1)
  const both = [/^Payments$/, /^Payments_[0-9a-f]{8}$/]
  for (const host of [first, second]) await host.serves(both)
  // Back to the version that is registered: nothing is sent, and it is the same View.
  await author.follow(2)
  for (const host of [first, second]) await host.serves(both)
  assert.deepEqual(await first.ids(), await second.ids())
  assert.equal(new Set(await first.ids()).size, 2)

  await until(async () => (await second.state()) === 'live')
  assert.equal((await author.deploy('Before')).exitCode, 0)
  const interrupted = author.deploy('Meanwhile')
  await until(() => author.isSent('Meanwhile'))
  await registry.kill()
  assert.equal((await author.deploy('After')).exitCode, 3)
  for (const host of [first, second]) await until(async () => (await host.state()) !== 'live')
  await registry.start()
  // It kept waiting for the chain.
  const finished = await interrupted
  assert.equal(finished.exitCode, 0, finished.stderr)
  const known = await author.deploy('Meanwhile')
  assert.equal(known.exitCode, 0, known.stderr)
  assert.match(known.stderr, /the chain knows this View already/)
  assert.equal((await author.deploy('After')).exitCode, 0)
  for (const host of [first, second])
    await host.serves([/^After$/, /^Before$/, /^Meanwhile$/, ...both])
  assert.deepEqual(await first.ids(), await second.ids())
})

interface RegistryProcess {
  readonly rpcUrl: string
  readonly lcdUrl: string
  readonly cometUrl: string
  start(): Promise<void>
  kill(): Promise<void>
}

/** The development registry in a process of its own, with its own node, on the same ports at each start. */
async function startRegistry(t: TestContext): Promise<RegistryProcess> {
  const folder = testDirectory(t)
  const ports = await freePorts(3)
  const [rpcUrl = '', lcdUrl = '', cometUrl = ''] = ports.map((port) => `http://127.0.0.1:${port}`)
  let running: ChildProgram | null = null
  const start = async (): Promise<void> => {
    const args = [folder, ...ports.map(String)]
    running = startChild('test/toolkit/support/registry-program.ts', { args })
    await running.says('open')
  }
  const kill = async (): Promise<void> => {
    running?.process.kill('SIGKILL')
    await running?.ended()
  }
  t.after(kill)
  await start()
  return { rpcUrl, lcdUrl, cometUrl, start, kill }
}

interface Listed {
  readonly views: readonly { readonly id: string; readonly name: string }[]
  readonly registry: { readonly state: string } | null
}

/** A whole Host that follows this registry. */
async function openHost(t: TestContext, { lcdUrl, cometUrl }: RegistryProcess) {
  const host = await openHostInProcess(t, testDirectory(t), {
    REGISTRY_LCD_URL: lcdUrl,
    REGISTRY_RPC_URL: cometUrl,
  })
  const { apiPort } = await host.opened
  const list = async (): Promise<Listed> =>
    (await (await fetch(`http://127.0.0.1:${apiPort}/api/v0/views`)).json()) as Listed
  return {
    ids: async () => (await list()).views.map(({ id }) => id).toSorted(),
    state: async () => (await list()).registry?.state,
    /** Waits until it serves as many Views as there are patterns, and compares their sorted names. */
    async serves(patterns: readonly RegExp[]) {
      await until(async () => (await list()).views.length === patterns.length)
      const names = (await list()).views.map(({ name }) => name).toSorted()
      for (const [at, pattern] of patterns.entries()) assert.match(names[at] ?? '', pattern)
    },
  }
}

/** Who builds Views, in one project: by the shell as the page has it, and in this process. */
async function openAuthor(t: TestContext, rpcUrl: string) {
  const terminal = await openTestTerminal(t)
  const run = (...argv: string[]) => terminal.run(argv, { env: { VIEWMESH_PRIVATE_KEY: key } })
  const [project, ...blocks] = blocksOf(page).filter((block) => block.marker === marker)
  const shell = (commands: string): Promise<string> =>
    runShell(`exec 2>&1\n${commands}`, {
      cwd: terminal.cwd,
      env: { HOME: terminal.homeFolder, VIEWMESH_PRIVATE_KEY: key },
    })
  await shell(project?.text ?? '')
  for (const name of ['Before', 'Meanwhile', 'After'])
    await terminal.json(
      ...['view', 'create', name, '--query', 'Log { address }'],
      ...['--sdl', `type ${name} { address: String }`],
    )
  return {
    deploy: (name: string) =>
      run('view', 'deploy', name, '--target', 'devnet', '--rpc', rpcUrl, '--yes'),
    /** Whether the chain has it, pending or registered. */
    async isSent(name: string): Promise<boolean> {
      const { deployments } = (await terminal.json('view', 'status', name)) as {
        deployments: { state: string }[]
      }
      return ['pending', 'registered'].includes(deployments[0]?.state ?? '')
    },
    /** Runs a block of the page, and compares what it prints with the text below it. */
    async follow(number: number): Promise<void> {
      const [commands, shown] = blocks.slice(2 * number)
      const printed = await shell((commands?.text ?? '').replaceAll(named, rpcUrl))
      const line = `${page}, line ${commands?.line}`
      assert.equal(settled(printed), settled(shown?.text ?? ''), line)
    },
  }
}

/** IDs follow from the bytes of a lens, gas and fee from its size; ports and heights from the moment. */
function settled(text: string): string {
  return text
    .replaceAll(/\b0x[0-9a-fA-F]{32,}/g, 'HEX')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'URL')
    .replaceAll(/\d+(?:\.\d+)? (SHNZ|bytes)/g, 'N $1')
    .replaceAll(/(height|gas(?: used)?:) +\d+/g, '$1 N')
    .replaceAll(/ +/g, ' ')
}

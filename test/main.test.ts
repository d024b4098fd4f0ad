import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import {
  chmod,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type ChildProgram, startChild } from './support/child-program.ts'
import { makeReadable } from './support/other-user/leave-root.ts'
import { repository } from './support/repository.ts'

const preload = (name: string): string[] => [
  '--import',
  new URL(`./support/${name}.ts`, import.meta.url).href,
]
const top = await mkdtemp(join(tmpdir(), 'viewmesh-launcher-'))
after(() => rm(top, { recursive: true }))
const packageText = await readFile(new URL('../package.json', import.meta.url), 'utf8')
const { version } = JSON.parse(packageText) as { readonly version: string }

/** What only running commands may load; the hash in the checksum of an address is needed to read settings. */
const heavy =
  /^(@libp2p\/|libp2p$|viem$|lmdb$|fastify$|graphql|prom-client$|pino|undici$|@noble\/curves)/

interface Answer {
  readonly code: number | null
  readonly stdout: string
  readonly heavyPackages: readonly string[]
}

async function ask(...args: readonly string[]): Promise<Answer> {
  const nodeFlags = preload('report-modules')
  const { code, stdout, stderr } = await startChild('src/main.ts', { args, nodeFlags }).ended()
  const packages = JSON.parse(stderr) as string[]
  return { code, stdout, heavyPackages: packages.filter((name) => heavy.test(name)) }
}

for (const flag of ['--version', '-V']) {
  test(`${flag} answers the version and loads no library behind a command`, async () => {
    assert.deepEqual(await ask(flag), { code: 0, stdout: `${version}\n`, heavyPackages: [] })
  })
}

test('--help lists the commands and loads no library behind them', async () => {
  const { code, stdout, heavyPackages } = await ask('--help')
  assert.equal(code, 0)
  for (const command of ['generator', 'host', 'devnet', 'verify', 'view']) {
    assert.match(stdout, new RegExp(`^  ${command} `, 'm'))
  }
  assert.doesNotMatch(stdout, /^ {2}help /m, 'it is a flag, not a command')
  assert.deepEqual(heavyPackages, [])
})

const examples = {
  generator: /--node-rpc-url <value>.*NODE_RPC_URL/s,
  host: /--schema-auth-token-file <file>.*GENERATOR_SCHEMA_AUTH_TOKEN_FILE/s,
  devnet: /--devnet-path <value>.*DEVNET_PATH/s,
} as const

for (const [command, example] of Object.entries(examples)) {
  test(`${command} --help lists its settings without loading the program`, async () => {
    const { code, stdout, heavyPackages } = await ask(command, '--log-level', 'info', '--help')
    assert.equal(code, 0)
    const widest = Math.max(...stdout.split('\n').map(({ length }) => length))
    assert.ok(widest > 80 && widest <= 100, 'it is 100 columns wide where there is no terminal')
    assert.match(stdout, new RegExp(`^Usage: viewmesh ${command} `))
    assert.match(stdout, /--config <file>/)
    assert.match(stdout, example)
    assert.deepEqual(heavyPackages, [])
  })
}

test('an unknown command suggests the nearest one, with the usage line and exit code 2', async () => {
  const { code, stdout, stderr } = await startChild('src/main.ts', {
    args: ['viw', 'list'],
  }).ended()
  assert.deepEqual([code, stdout], [2, ''])
  assert.equal(
    stderr,
    "error: unknown command 'viw'\n(Did you mean view?)\nUsage: viewmesh [options] [command]\nviewmesh --help lists the commands.\n",
  )
})

test('the launcher runs the sources in a clone', async () => {
  const { code, stdout } = await startChild('src/viewmesh.js', { args: ['--version'] }).ended()
  assert.deepEqual([code, stdout], [0, `${version}\n`])
})

test('the launcher chooses the pinned Node when it is started by an old one', async () => {
  const nodeFlags = preload('pretend-old-node')
  const { code, stdout } = await startChild('src/viewmesh.js', { args: ['-V'], nodeFlags }).ended()
  assert.deepEqual([code, stdout], [0, `${version}\n`])
})

test('without the toolkit, as in the image of a Host, its commands name the image that has it', async () => {
  const root = join(top, 'host-image')
  const left = join(repository, 'src/toolkit')
  await cp(join(repository, 'src'), join(root, 'src'), {
    recursive: true,
    filter: (path) => !path.startsWith(`${left}/`) || path.endsWith('/toolkit-commands.ts'),
  })
  await copyFile(join(repository, 'package.json'), join(root, 'package.json'))
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'))
  for (const args of [
    ['view', 'list'],
    ['verify', '-'],
  ]) {
    const { code, stderr } = await startChild(join(root, 'src/main.ts'), { args }).ended()
    assert.equal(
      stderr,
      'viewmesh: the toolkit is not part of this image: run the command in the image viewmesh-toolkit.\n',
    )
    assert.equal(code, 2)
  }
  await writeFile(join(root, 'src/toolkit/main.ts'), "import 'no-such-package'")
  const { code, stderr } = await startChild(join(root, 'src/main.ts'), { args: ['view'] }).ended()
  assert.equal(code, 1)
  assert.match(stderr, /Cannot find package 'no-such-package'/)
})

const launcher = ['src/viewmesh.js', 'src/launch.js']
const program = `
  process.on('SIGTERM', () => process.exit(7))
  setInterval(() => undefined, 1000)
  console.log('running', ...process.argv.slice(2))
`

interface Package {
  /** Relative to the temporary folder. */
  readonly folder: string
  /** Where the program's module is, relative to the package; null for none. */
  readonly main: string | null
  readonly hasNode?: true
  readonly isOld?: true
  readonly isOtherUser?: true
}

/** A package of our shape, started by its launcher. */
async function startPackage({
  folder,
  main,
  hasNode,
  isOld,
  isOtherUser,
}: Package): Promise<ChildProgram> {
  const root = join(top, folder)
  await mkdir(join(root, 'src'), { recursive: true })
  await writeFile(join(root, 'package.json'), '{"type":"module"}')
  for (const file of launcher) await copyFile(join(repository, file), join(root, file))
  if (main !== null) {
    await mkdir(join(root, main, '..'), { recursive: true })
    await writeFile(join(root, main), program)
  }
  if (hasNode) {
    await mkdir(join(root, 'node_modules/.bin'), { recursive: true })
    await symlink(process.execPath, join(root, 'node_modules/.bin/node'))
  }
  if (isOtherUser) makeReadable(root)
  const nodeFlags = [
    ...(isOld ? preload('pretend-old-node') : []),
    ...(isOtherUser ? preload('other-user/preload-leave-root') : []),
  ]
  return startChild(join(root, 'src/viewmesh.js'), { args: ['host', '--x'], nodeFlags })
}

const layouts: Readonly<Record<string, Package>> = {
  'an installed package, from its build': {
    folder: 'app/node_modules/viewmesh',
    main: 'dist/src/main.js',
  },
  'a build folder': { folder: 'image/dist', main: 'src/main.js' },
  'a clone under an old Node': { folder: 'clone', main: 'src/main.ts', hasNode: true, isOld: true },
}

for (const [what, layout] of Object.entries(layouts)) {
  test(`the launcher runs ${what} with arguments, signals and exit code passed through`, async () => {
    const child = await startPackage(layout)
    await child.says('running host --x')
    child.process.kill('SIGTERM')
    assert.equal((await child.ended()).code, 7)
  })
}

for (const [what, folder, main, packages] of [
  [
    'of an installed package',
    'user/node_modules/viewmesh',
    'dist/src/main.js',
    'user/node_modules',
  ],
  ['of a clone', 'repository', 'src/main.ts', 'repository/node_modules'],
  ['of a build', 'work/dist', 'src/main.js', 'work/node_modules'],
] as const)
  test(`compiled code ${what} is kept beside the packages it comes from`, async () => {
    await mkdir(join(top, packages), { recursive: true })
    const child = await startPackage({ folder, main })
    await child.says('running host --x')
    assert.ok(existsSync(join(top, packages, '.cache/compile')))
    child.process.kill('SIGTERM')
    await child.ended()
  })

test('where its packages may not be written, as in a read-only image, it runs and keeps nothing', async () => {
  const packages = join(top, 'readonly/node_modules')
  await mkdir(packages, { recursive: true })
  await chmod(packages, 0o555)
  await chmod(top, 0o755)
  const child = await startPackage({ folder: 'readonly', main: 'src/main.ts', isOtherUser: true })
  await child.says('running host --x')
  child.process.kill('SIGTERM')
  assert.equal((await child.ended()).code, 7)
  assert.deepEqual(await readdir(packages), [])
})

test('without a Node that is new enough the launcher says which it needs and how to get it', async () => {
  const child = await startPackage({ folder: 'alone', main: 'src/main.ts', isOld: true })
  const { code, stderr } = await child.ended()
  assert.equal(code, 1)
  assert.match(stderr, /^viewmesh: needs Node 22\.19 or newer, this is v20\.11\.1\. Run "npm ci"/)
})

test('an installed package without a build says so', async () => {
  const child = await startPackage({ folder: 'b/node_modules/viewmesh', main: 'src/main.ts' })
  const { code, stderr } = await child.ended()
  assert.equal(code, 1)
  assert.match(stderr, /^viewmesh: there is no build beside .*; run "npm run build"/)
})

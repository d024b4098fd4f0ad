/** The walk of docs/views from outside: a View goes from an ABI to rows in GraphQL, against `npm start` itself. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import { promisify, stripVTControlCharacters } from 'node:util'
import { blocksOf } from '../../docs/support/page.ts'
import { otherPorts } from '../../support/devnet-ports.ts'
import { repository } from '../../support/repository.ts'
import { type RunningStart, startCommand, until } from './start-command.ts'

/**
 * How far the chain of `npm start`, with a block each second, may get before a deployed View has rows. The service has two seconds
 * for it, which `npm run bench -- --views` measures; this is for machines that run other tests meanwhile.
 */
const mostBlocks = 10
const token = '0x5fbdb2315678afecb367f032d93f642f64180aa3'
const folder = await mkdtemp(join(tmpdir(), 'viewmesh-walk-'))
const project = join(folder, 'project')

interface Deployed {
  readonly id: string
  readonly address: string
}

interface Posted extends Deployed {
  readonly name: string
  readonly isNew: boolean
}

interface Listed {
  readonly views: readonly (Posted & { readonly registered_at: number | null })[]
  readonly registry: { readonly state: string }
}

describe('a View against npm start', () => {
  let program: RunningStart
  let hostUrl = ''
  let registryUrl = ''
  let adminToken = ''
  let first: Posted

  before(async () => {
    await mkdir(project)
    program = startCommand({ ...process.env, ...(await otherPorts()), DEVNET_PATH: folder })
    await program.line(/^curl .*$/m)
    hostUrl = printed(/^ +Host +(http:\/\/[^/\s]+)\//m)
    adminToken = printed(/admin token (\S+)/)
    registryUrl = printed(/Registry chain +(\S+)/)
    // From now on blocks have transfers of the token.
    await until(async () => (await rowsOf('TokenTransfer'))?.rows[0] ?? null)
  })
  after(async () => {
    // Not killed: what it started would write into the folder for a moment longer.
    await program.interrupt()
    await rm(folder, { recursive: true })
  })

  test('is made of an ABI, and passes its test on blocks of the Host', async () => {
    const page = blocksOf('docs/views/first-view.md')
    const abi = page.find(({ text }) => text.includes('cat > Token.json'))?.text ?? ''
    await bash(abi)
    await create('Payments')
    const { passed, rowCount } = await viewmesh<{ passed: boolean; rowCount: number }>(
      ...['view', 'test', 'Payments', '--from', hostUrl, '--blocks', '10'],
    )
    assert.ok(passed && rowCount > 0, `${rowCount} rows`)
  })

  test('has rows in GraphQL once it is deployed', async () => {
    first = await deployLocally()
    assert.deepEqual([first.name, first.isNew], ['Payments', true])
    await hasRowsSoon(first.name)
  })

  test('is another View with rows of its own after add lens', async () => {
    await viewmesh(
      ...['view', 'add', 'lens', '--name', 'Payments', '--label', 'keep'],
      ...['--path', join(repository, 'src/lenses/filter.wasm')],
      ...['--args', '{"src": "event", "value": "Transfer"}'],
    )
    const second = await deployLocally()
    assert.ok(second.isNew && second.id !== first.id)
    assert.match(second.name, /^Payments_[0-9a-f]{8}$/)
    await hasRowsSoon(second.name)
  })

  test('is the first one again after rollback', async () => {
    await viewmesh('view', 'rollback', 'Payments')
    const { id, name, isNew } = await deployLocally()
    assert.deepEqual({ id, name, isNew }, { id: first.id, name: 'Payments', isNew: false })
    assert.equal((await list()).views.filter((view) => view.name.startsWith('Payments')).length, 2)
  })

  test('is found by the running Host once it is registered on the registry chain', async () => {
    await create('Registered')
    await until(async () => (await list()).registry.state === 'live' || null)
    const { id, address } = await viewmesh<Deployed>(
      ...['view', 'deploy', 'Registered', '--target', 'devnet', '--rpc', registryUrl, '--yes'],
    )
    await hasRowsSoon('Registered')
    const found = (await list()).views.find((view) => view.name === 'Registered')
    assert.deepEqual([found?.id, found?.address], [id, address])
    assert.ok((found?.registered_at ?? 0) > 0)
  })

  function printed(pattern: RegExp): string {
    const value = pattern.exec(stripVTControlCharacters(program.output()))?.[1]
    assert.ok(value !== undefined, `${pattern} is not in ${program.output()}`)
    return value
  }

  async function bash(commands: string): Promise<void> {
    const functions = `viewmesh() { '${process.execPath}' '${repository}/src/viewmesh.js' "$@"; }\n`
    await promisify(execFile)('bash', ['-ec', functions + commands], { cwd: project, env: env() })
  }

  /** Runs `viewmesh <argv>` in the project, as its own process; it has to succeed. Answers its JSON. */
  async function viewmesh<T>(...argv: readonly string[]): Promise<T> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(repository, 'src/viewmesh.js'), ...argv, '--json'],
      { cwd: project, env: env() },
    )
    return JSON.parse(stdout) as T
  }

  const env = () => ({
    ...{ PATH: process.env['PATH'], HOME: folder, HOST_ADMIN_TOKEN: adminToken },
    // The key that docs/views/deploying.md gives: the stand-in has funded it.
    VIEWMESH_PRIVATE_KEY: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  })

  const create = (name: string): Promise<unknown> =>
    viewmesh(
      ...['view', 'create', name, '--from-abi', 'Token.json'],
      ...['--event', 'Transfer', '--address', token],
    )

  const deployLocally = (): Promise<Posted> =>
    viewmesh('view', 'deploy', 'Payments', '--target', 'local', '--host', hostUrl)

  async function list(): Promise<Listed> {
    return (await (await fetch(`${hostUrl}/api/v0/views`)).json()) as Listed
  }

  /** Waits for rows of a View that was deployed just now. */
  async function hasRowsSoon(name: string): Promise<void> {
    const deployedAt = (await rowsOf('TokenTransfer'))?.head ?? Number.NaN
    const { head } = await until(async () => {
      const found = await rowsOf(name)
      return found !== null && found.rows.length > 0 ? found : null
    })
    assert.ok(head - deployedAt <= mostBlocks, `rows came ${head - deployedAt} blocks later`)
    // So have blocks that come later.
    await until(async () => ((await rowsOf(name))?.rows[0]?._blockNumber ?? 0) > head || null)
  }

  /** The newest row of a View and the newest block, both as of one moment; null while there is no such View. */
  async function rowsOf(name: string): Promise<{ rows: readonly Row[]; head: number } | null> {
    const order = '(order: {_blockNumber: DESC}, limit: 1)'
    const query = `{ rows: ${name}${order} { _blockNumber } blocks: Block(order: {number: DESC}, limit: 1) { number } }`
    const response = await fetch(`${hostUrl}/api/v0/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    })
    const { data } = (await response.json()) as {
      data?: { rows: readonly Row[]; blocks: readonly { number: number }[] }
    }
    const [newest] = data?.blocks ?? []
    return data === undefined || newest === undefined
      ? null
      : { rows: data.rows, head: newest.number }
  }
})

interface Row {
  readonly _blockNumber: number
}

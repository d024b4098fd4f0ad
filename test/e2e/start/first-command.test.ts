import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { listeningPorts, loadDevnetSettings } from '../../../src/devnet/config.ts'
import { requireFreePorts } from '../../../src/devnet/free-ports.ts'
import type { HealthReport } from '../../../src/service/contract.ts'
import { blocksOf } from '../../docs/support/page.ts'
import { otherPorts } from '../../support/devnet-ports.ts'
import { type RunningStart, startCommand, until } from './start-command.ts'

interface Answer {
  readonly data: Readonly<Record<string, readonly Row[]>>
  readonly errors?: readonly { readonly message: string }[]
  readonly extensions?: unknown
}

interface Row {
  readonly number: number
  readonly blockNumber: number
  readonly transactions: readonly Row[]
  readonly logs: readonly unknown[]
  readonly accessList: readonly unknown[]
}

const stopWithinMs = 5_000
const path = await mkdtemp(join(tmpdir(), 'viewmesh-start-'))
const env = { ...process.env, ...(await portsForTest()), DEVNET_PATH: path }
const settings = loadDevnetSettings({ argv: [], env })
const generatorUrl = `http://127.0.0.1:${settings.generatorHealthPort}`
const hostUrl = `http://127.0.0.1:${settings.hostHealthPort}`
const queryUrl = `http://127.0.0.1:${settings.hostApiPort}/api/v0/graphql`

describe('npm start', () => {
  let program: RunningStart
  let folder: string
  let headAtStop: number

  before(async () => {
    program = startCommand(env)
  })
  after(async () => {
    await program.kill()
    await rm(path, { recursive: true })
  })

  test('prints where everything is, and a query that works as printed', async () => {
    const command = await program.line(/^curl .*$/m)
    assert.match(program.output(), /Local__Devnet, genesis 0x[0-9a-f]{64}/)
    folder = join(path, basename(/Data and logs +(\S+)/.exec(program.output())?.[1] ?? ''))
    const answer: Answer = JSON.parse(execFileSync('sh', ['-c', command], { encoding: 'utf8' }))
    assert.equal(answer.errors, undefined)
    assert.equal(answer.data['Block']?.length, 1)
  })

  test('prints the table that README shows', () => {
    const shown = blocksOf('README.md').find(({ text }) => text.includes(', genesis 0x'))
    assert.ok(shown !== undefined)
    const printed = withoutValues(program.output()).split('\n')
    const missing = withoutValues(shown.text)
      .split('\n')
      .filter((line) => !printed.includes(line))
    assert.deepEqual(missing, [])
  })

  test('returns what README shows below its query', async () => {
    const [command = '', shown = ''] = exampleOf('json')
    const answer = await until(async () => {
      const found: Answer = JSON.parse(execFileSync('sh', ['-c', command], { encoding: 'utf8' }))
      const lists = Object.values(found.data ?? {})
      // For a moment the View is not there yet, then it has no rows, or lacks those of the newest block.
      const areWhole = lists.length > 0 && lists.every((rows) => rows.length === 1)
      return areWhole && found.extensions === undefined ? found : null
    })
    assert.deepEqual(shapeOf(answer), shapeOf(JSON.parse(shown)))
  })

  test('streams the events that README shows below its subscription', async () => {
    const [command = '', shown = ''] = exampleOf('text')
    const stream = spawn('sh', ['-c', `exec ${command}`], { stdio: ['ignore', 'pipe', 'ignore'] })
    let text = ''
    for await (const piece of stream.stdout.setEncoding('utf8')) {
      text += piece
      if (eventsIn(text).length >= 2) break
    }
    stream.kill()
    assert.deepEqual(eventsIn(text).slice(0, 2).map(shapeOf), eventsIn(shown).map(shapeOf))
  })

  test('brings every kind of document to the Host, nested both ways', async () => {
    const query = `{
      several: Transaction(filter: {logs: {topics: {_any: {_like: "0xddf252ad%"}}}}, limit: 1) { block { number } logs { address } }
      listed: Transaction(filter: {type: {_eq: 1}}, limit: 1) { accessList { address storageKeys transaction { hash } } }
    }`
    const answer = await until(async () => {
      const found = await ask(query)
      return (found.data['several']?.length ?? 0) > 0 && (found.data['listed']?.length ?? 0) > 0
        ? found
        : null
    })
    assert.equal(answer.errors, undefined)
    assert.ok((answer.data['listed']?.[0]?.accessList.length ?? 0) > 0)
  })

  test('keeps the Host at the head of the chain, with the Generator as its peer', async () => {
    const generator = await health(generatorUrl)
    const first = await health(hostUrl)
    assert.ok(generator !== null && first !== null)
    assert.equal(first.status, 'healthy')
    assert.deepEqual(
      first.p2p.peers.map(({ id }) => id),
      [generator.p2p.self?.id],
    )
    await until(async () => ((await health(hostUrl))?.head ?? 0) > (first.head ?? 0) + 3 || null)
  })

  test('stops everything within five seconds of Ctrl-C, and leaves nobody behind', async () => {
    headAtStop = (await health(hostUrl))?.head ?? 0
    const elapsedMs = await program.interrupt()
    assert.ok(elapsedMs < stopWithinMs, `it took ${elapsedMs} ms`)
    assert.deepEqual(processesOf(path), [])
    await requireFreePorts('127.0.0.1', listeningPorts(settings))
  })

  test('continues where it was when started again', async () => {
    program = startCommand(env)
    await program.line(/^curl .*$/m)
    assert.equal(
      basename(/Data and logs +(\S+)/.exec(program.output())?.[1] ?? ''),
      basename(folder),
    )
    await until(async () => ((await health(hostUrl))?.head ?? 0) > headAtStop || null)
    const report = await health(hostUrl)
    assert.deepEqual(report?.gaps, [])
    assert.ok((report?.tail ?? headAtStop) < headAtStop, 'the blocks of the first run are there')
  })

  test('leaves nobody behind when it is killed', async () => {
    await program.kill()
    await until(async () => processesOf(path).length === 0 || null)
  })
})

/** What is printed without what differs from machine to machine: ports, hashes, the folder, colours. */
function withoutValues(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/0x[0-9a-f]{64}/g, '<hash>')
    .replaceAll(/(?<=:|port )\d{2,5}\b/g, '<port>')
    .replaceAll(/(?<=Data and logs +)\S+/g, '<folder>')
    .replaceAll(/(?<=admin token )\S+/g, '<token>')
    .replaceAll(/[ \t]+$/gm, '')
}

/** README's curl command above a block of this language, with our ports, and that block. */
function exampleOf(language: string): [command: string, shown: string] {
  const blocks = blocksOf('README.md')
  const at = blocks.findIndex(
    (block, index) => block.text.startsWith('curl ') && blocks[index + 1]?.language === language,
  )
  const [command, shown] = blocks.slice(at, at + 2).map(({ text }) => text.trim())
  return [command?.replace(':9181/', `:${settings.hostApiPort}/`) ?? '', shown ?? '']
}

/** What the whole events of a stream carry. */
function eventsIn(text: string): unknown[] {
  return [...text.matchAll(/^event: next\ndata: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
}

/** A JSON value with `typeof` in the place of each scalar, and each list cut to its first entry. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shapeOf(part)]))
}

async function ask(query: string): Promise<Answer> {
  const response = await fetch(queryUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  return (await response.json()) as Answer
}

async function health(url: string): Promise<HealthReport | null> {
  const response = await fetch(`${url}/health`).catch(() => null)
  return (await response?.json()) as HealthReport | null
}

/** Command lines of the processes that were started with our directory (Linux only). */
function processesOf(directory: string): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((pid) => `${readProc(pid, 'environ')}${readProc(pid, 'cmdline')}`.includes(directory))
    .map((pid) => readProc(pid, 'cmdline').replaceAll('\0', ' '))
}

function readProc(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}

/** The documented ports where they are free, others where something else runs on this machine. */
async function portsForTest(): Promise<Record<string, string>> {
  const documented = loadDevnetSettings({ argv: [], env: {} })
  try {
    await requireFreePorts('127.0.0.1', listeningPorts(documented))
    return {}
  } catch {
    return await otherPorts()
  }
}

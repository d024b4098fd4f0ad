/** A Host under a hundred thousand messages of strangers, beside a twin that hears the honest Generator alone. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { openWriter } from '../../src/store/write/writer.ts'
import { captureLog } from '../support/captured-log.ts'
import { type ChainBlock, createChain, shapes } from '../support/chain/block-factory.ts'
import { type ChildProgram, startChild } from '../support/child-program.ts'
import { until } from '../support/p2p-room.ts'
import { type Program, pause, prepareProgram } from '../support/programs.ts'
import { openTestGenerator, type TestGenerator } from '../support/test-generator.ts'
import { storedChain, testDirectory } from '../support/test-store.ts'

const messages = 100_000
const megabyte = 1_000_000
const known = 20
/** A Generator signs no more than four heads a second, and a Host takes no more of one. */
const betweenBlocksMs = 300

interface Subject {
  readonly program: Program
  readonly path: string
}

async function openSubject(
  t: TestContext,
  generator: TestGenerator,
  secret: string,
): Promise<Subject> {
  const path = join(testDirectory(t), 'store')
  const program = await prepareProgram('host', {
    CHAIN_NAME: 'Local',
    CHAIN_NETWORK: 'Devnet',
    BOOTSTRAP_PEERS: generator.room.address,
    HOST_TRUSTED_SIGNERS: generator.signer.identity,
    DB_KEYRING_SECRET: secret,
    DB_STORE_PATH: path,
    LOG_LEVEL: 'error',
  })
  t.after(() => program.close())
  await program.start()
  return { program, path }
}

async function peerAddressOf({ program }: Subject): Promise<string> {
  return program.peerAddress((await program.health()).p2p.self?.id ?? '')
}

/** How long it takes until the block is served. */
async function servedAfterMs({ program }: Subject, number: number): Promise<number> {
  const askedMs = performance.now()
  for (;;) {
    const query = `{ Block(filter: { number: { _eq: ${number} } }) { number } }`
    const { Block } = await program.query<{ Block: unknown[] }>(query)
    if (Block.length > 0) return performance.now() - askedMs
    await pause(10)
  }
}

/** What `/health` says that is not of this moment or of who is connected. */
async function reportOf({ program }: Subject): Promise<unknown> {
  const { status, tail, head, lag, gaps, errors, genesis, trust, signers } = await program.health()
  const reportedSigners = signers?.map(({ last_heard, ...signer }) => ({
    ...signer,
    isHeard: last_heard !== null,
  }))
  return { status, tail, head, lag, gaps, errors, genesis, trust, signers: reportedSigners }
}

async function storedBy({ path }: Subject): Promise<unknown[]> {
  const store = await openWriter(
    { path, network: 'Local__Devnet', retainBlocks: null, program: 'host' },
    { log: captureLog().log },
  )
  const { reader } = store
  try {
    return storedChain(reader).map(([height, hash]) => [
      height,
      hash,
      reader.read((snapshot) =>
        snapshot.seals(height).map(({ signatureIdentity }) => signatureIdentity),
      ),
    ])
  } finally {
    await store.close()
  }
}

const sentBy = (storm: ChildProgram): number => Number(storm.stdout().trim().split('\n').at(-1))

test(`${messages} messages of strangers change neither a Host’s store nor its answers and memory`, async (t) => {
  const first = createChain({ count: known, from: 1, shape: shapes.tiny })
  const generator = await openTestGenerator(t, 'honest', first)
  const host = await openSubject(t, generator, 'the secret of the Host')
  const twin = await openSubject(t, generator, 'the secret of its twin')
  let parent: ChainBlock | undefined = first.at(-1)
  let top = known
  const arrivedMs: number[] = []
  const nextBlock = async (): Promise<void> => {
    assert.ok(parent !== undefined)
    const blocks = createChain({ count: 1, parent, shape: shapes.tiny })
    parent = blocks[0]
    top += 1
    await pause(betweenBlocksMs)
    await generator.publish(blocks)
    const [hostMs, twinMs] = await Promise.all([servedAfterMs(host, top), servedAfterMs(twin, top)])
    // Against the twin: where the whole machine stands still for a moment, nobody is to blame. Seconds, as other programs
    // may have most of the processors, of which the storm takes much and the twin little.
    assert.ok(hostMs - twinMs < 10_000, `block ${top} came ${hostMs} ms after it was gossiped`)
    arrivedMs.push(hostMs)
  }
  for (let warm = 0; warm < 10; warm += 1) await nextBlock()
  const before = host.program.memory().ownBytes

  const storm = startChild('test/host/support/message-storm.ts', {
    args: [await peerAddressOf(host), 'honest', `${known}`, '10'],
  })
  t.after(() => storm.process.kill('SIGKILL'))
  const grown: number[] = []
  while (sentBy(storm) < messages) {
    assert.equal(storm.process.exitCode, null, storm.stderr())
    await nextBlock()
    grown.push(host.program.memory().ownBytes - before)
  }
  await nextBlock()
  grown.sort((a, b) => a - b)
  arrivedMs.sort((a, b) => a - b)
  assert.ok((arrivedMs[arrivedMs.length >> 1] ?? 0) < 3_000)
  // A collector that gets no processor time is late for a moment.
  const [median = 0, peak = 0] = [grown[grown.length >> 1], grown.at(-1)]
  const growth = `${median} bytes more than before, ${peak} for a moment`
  assert.ok(median < 50 * megabyte && peak < 75 * megabyte, growth)
  const isToldAlike = async (): Promise<boolean> =>
    isDeepStrictEqual(await reportOf(host), await reportOf(twin))
  await until(isToldAlike).catch(() => undefined)
  assert.deepEqual(await reportOf(host), await reportOf(twin))
  await Promise.all([host.program.stop(), twin.program.stop()])
  const stored = await storedBy(host)
  assert.deepEqual(stored, await storedBy(twin))
  assert.equal(stored.length, top)
})

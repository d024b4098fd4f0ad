/**
 * A program that has a store open, for tests that kill it, fill its disk or start a second one.
 * `hold <path>` opens the store and waits; `hold-as-user <path>` does so as another user than root; `upgrade <path>` says
 * when all that opening it began is done.
 * `write <path>` resumes at the first unsealed block and stores blocks, with reorganisations and pruning, until it
 * is killed; it says each height that was acknowledged. `write-rows <path>` does so with blocks without documents, as an
 * application, from the first height whose rows it lacks. `fill <path>` stores blocks until one fails, and says as JSON
 * what happened.
 */
import { writeSync } from 'node:fs'
import process from 'node:process'
import { pino } from 'pino'
import { ServiceError } from '../../../src/errors.ts'
import type { RowStatement } from '../../../src/row-votes/row-statement.ts'
import { excerptOf, type StatementExcerpt } from '../../../src/row-votes/statement-excerpt.ts'
import type { RowBlockToStore, StoreWriter } from '../../../src/store/store.ts'
import { openWriter } from '../../../src/store/write/writer.ts'
import { opaqueBlock, opaqueNetwork, opaqueSeal } from '../../support/chain/opaque-blocks.ts'
import { leaveRoot } from '../../support/other-user/leave-root.ts'
import { opaqueStatement } from '../../support/row-statements.ts'
import { type RowDocument, viewBlock } from '../../support/view-rows.ts'

/** What the `write` program keeps visible. */
export const writtenRetainBlocks = 100
/** And how far rows of Views reach. */
export const writtenRetainRows = 150
/** Every so many heights the last few are replaced by those of another branch. */
const reorgEvery = 40
export const reorgDepth = 6

/** Bytes of the body at a height. */
export function writtenBytes(height: number): number {
  return 500 + ((height * 7919) % 20_000)
}

/** The branches to which a block at this height may belong. */
export function writtenBranches(height: number): string[] {
  const next = Math.ceil(height / reorgEvery) * reorgEvery
  return next - height < reorgDepth ? ['main', `at-${next}`] : ['main']
}

/** The slot of the View whose rows are written beside the blocks of the main branch. */
export const writtenSlot = 5

/** The slot of a View that has nothing in any block, which the store knows. */
export const emptySlot = 6

/** The rows of the first View at a height. */
export function writtenRows(height: number): RowDocument[] {
  return Array.from({ length: height % 150 }, (_, count) => ({
    name: `${height}`,
    counts: [count],
  }))
}

/** What a Host signed of those rows; its signature is made up. */
export function writtenStatement(height: number): RowStatement {
  const { hash } = opaqueBlock(height, writtenBytes(height)).header
  const views = Array.from({ length: 1 + (height % 3) * 70 }, (_, index) => `View ${index}`)
  return opaqueStatement(height, hash, { views })
}

/** What the `fill` program says at the end. */
export interface FillReport {
  readonly acknowledged: number
  readonly code: string
  readonly message: string
  readonly remedy: string | null
  readonly laterCode: string
  /** Highest height that readers see after the failure. */
  readonly head: number
}

const say = (text: string): number => writeSync(1, `${text}\n`)

async function write(store: StoreWriter): Promise<void> {
  const snapshot = store.reader.snapshot()
  const head = snapshot.range()?.head ?? 0
  const next = snapshot.firstUnsealed(opaqueSeal(1).signatureIdentity) ?? head + 1
  snapshot.release()
  void store.setViewNeeds(emptySlot, { type: 'any', parts: [] })
  for (let height = next; ; height++) {
    const written = writeHeight(store, height).then(() => say(`acknowledged ${height}`))
    if (height % 4 === 0) await written
    await store.prune()
  }
}

async function writeHeight(store: StoreWriter, height: number): Promise<void> {
  const block = opaqueBlock(height, writtenBytes(height))
  const documents = store.putBlock(block)
  const rows = store.putViewRows(writtenSlot, [viewBlock(block.header, writtenRows(height))])
  const statement = store.putRowStatements(height, [writtenStatement(height)])
  await Promise.all([documents, store.putSeals(height, block.seals), rows, statement])
  if (height % reorgEvery !== 0) return
  const branch = Array.from({ length: reorgDepth }, (_, index) => height - reorgDepth + 1 + index)
  await store.replaceBlocks(
    height - reorgDepth + 1,
    height,
    branch.map((each) => opaqueBlock(each, writtenBytes(each), `at-${height}`)),
  )
}

/** Every so many heights the store without documents gives up all but the newest. */
const pruneRowsEvery = 25
/** How many it keeps. */
export const keptRowBlocks = 60

/** The block at a height as an application keeps it. */
export function writtenRowBlock(height: number, branch = 'main'): RowBlockToStore {
  const { header, seals } = opaqueBlock(height, 1, branch)
  const { number, hash, parentHash, root, timestamp } = header
  return { header: { number, hash, parentHash, root, timestamp }, seals }
}

/** What it keeps of a statement about it. */
export function writtenExcerpt(height: number): StatementExcerpt {
  const { hash } = writtenRowBlock(height).header
  const views = Array.from({ length: 10 }, (_, index) => `View ${index}`)
  const statement = opaqueStatement(height, hash, { views })
  const wanted = new Set(statement.leaves.slice(0, 1 + (height % 9)).map(({ view }) => view))
  const excerpt = excerptOf(statement, wanted)
  if (excerpt === null) throw new Error('it has one leaf at least')
  return excerpt
}

async function writeRows(store: StoreWriter): Promise<void> {
  const done = store.reader.read((snapshot) => snapshot.viewRanges(writtenSlot))
  for (let height = (done.at(-1)?.[1] ?? 0) + 1; ; height++) {
    const written = writeRowsAt(store, height).then(() => say(`acknowledged ${height}`))
    if (height % 4 === 0) await written
    if (height % pruneRowsEvery === 0) await store.pruneRowsBelow(height - keptRowBlocks + 1)
  }
}

/** Where a reorganisation is due, the blocks of another branch are put first, and then those of the main one. */
async function writeRowsAt(store: StoreWriter, height: number): Promise<void> {
  const isReorg = height % reorgEvery === 0
  const heights = isReorg
    ? Array.from({ length: reorgDepth }, (_, index) => height - reorgDepth + 1 + index)
    : [height]
  if (isReorg) {
    void store.putRowBlocks(heights.map((each) => writtenRowBlock(each, `at-${height}`)))
    void store.truncateAbove(height - reorgDepth)
  }
  const blocks = heights.map((each) => writtenRowBlock(each))
  const unsealed = blocks.map(({ header }) => ({
    header: { ...header, root: '0'.repeat(64) },
    seals: [],
  }))
  void store.putRowBlocks(unsealed)
  void store.putRowBlocks(blocks)
  void store.putRowStatements(height, [writtenExcerpt(height)])
  const rows = blocks.map(({ header }) => viewBlock(header, writtenRows(header.number)))
  await store.putViewRows(writtenSlot, rows)
}

async function fill(store: StoreWriter): Promise<void> {
  let acknowledged = 0
  let failure: unknown
  for (let height = 1; failure === undefined; height += 3) {
    const writes = [0, 1, 2].map(async (step) => {
      await store.putSealedBlock(opaqueBlock(height + step, 60_000))
      acknowledged = height + step
    })
    const results = await Promise.allSettled(writes)
    failure = results.find((result) => result.status === 'rejected')?.reason
  }
  const later = await store.putSeals(1, []).catch((error: unknown) => error)
  const snapshot = store.reader.snapshot()
  const head = snapshot.range()?.head ?? 0
  snapshot.release()
  await store.close()
  if (!(failure instanceof ServiceError) || !(later instanceof ServiceError)) throw failure
  const { code, message, remedy = null } = failure
  const report: FillReport = { acknowledged, code, message, remedy, laterCode: later.code, head }
  say(JSON.stringify(report))
}

async function main(mode: string | undefined, path: string): Promise<void> {
  const retainBlocks = mode === 'write' ? writtenRetainBlocks : null
  const log = pino({ enabled: false })
  if (mode === 'hold-as-user') leaveRoot()
  const retain = { retainBlocks, ...(mode === 'write' && { retainRows: writtenRetainRows }) }
  const program = mode === 'write-rows' ? { program: 'app' as const } : {}
  const store = await openWriter({ path, network: opaqueNetwork, ...retain, ...program }, { log })
  if (mode === 'write') return write(store)
  if (mode === 'write-rows') return writeRows(store)
  if (mode === 'fill') return fill(store)
  if (mode === 'upgrade') await store.flushed()
  say('open')
  setInterval(() => undefined, 1_000)
}

if (process.argv[1]?.endsWith('store-program.ts')) {
  await main(process.argv[2], process.argv[3] ?? '').catch((error: unknown) => {
    say(error instanceof ServiceError ? error.code : String(error))
    process.exitCode = 1
  })
}

/** Asks a Host for its newest blocks again and again, and notes whatever no moment may show. */
import { pause } from '../support/programs.ts'
import type { Host } from './fleet.ts'
import { createServedChain, type ServedAnswer } from './served-chain.ts'

export interface Watcher {
  /** What was wrong, the first of it. */
  readonly faults: readonly string[]
  readonly figures: { readonly answers: number; readonly slowestMs: number }
  /** Hashes of every block that was ever served. */
  readonly hashes: ReadonlySet<string>
  stop(): Promise<void>
}

/** More than the deepest reorganisation, and what comes between two answers. */
const watchedBlocks = 48
/** Of so many blocks the transactions are asked for as well. */
const watchedWhole = 2
const everyMs = 150
/** Faults that are reported; there is no use in more of the same. */
const maxFaults = 20
/** A Host that takes longer for one answer does not answer. */
const answerWithinMs = 15_000

const query = `query ($newest: Int!, $whole: Int!) {
  Block(order: {number: DESC}, limit: $newest) { number hash parentHash }
  Transaction(filter: {blockNumber: {_gt: $whole}}) { blockNumber blockHash }
}`

/** Watches until it is stopped; `wasLeft` tells whether the node once had a block and has it no more. */
export function watchHost(host: Host, wasLeft: (hash: string) => boolean): Watcher {
  const served = createServedChain(wasLeft)
  const faults: string[] = []
  const figures = { answers: 0, slowestMs: 0 }
  let isOver = false
  let newest = 0

  const note = (found: readonly string[]): void => {
    const reported = found.map((what) => `${host.name}, ${new Date().toISOString()}: ${what}`)
    faults.push(...reported.slice(0, Math.max(0, maxFaults - faults.length)))
  }
  const ask = async (): Promise<void> => {
    const startMs = performance.now()
    const whole = newest - watchedWhole
    const answer = await within(
      host.program.query<ServedAnswer>(query, { newest: watchedBlocks, whole }),
    )
    figures.answers += 1
    figures.slowestMs = Math.max(figures.slowestMs, performance.now() - startMs)
    newest = answer.Block[0]?.number ?? 0
    note(served.add(answer))
  }
  const watching = (async () => {
    while (!isOver) {
      const life = host.life()
      try {
        if (life > 0) await ask()
      } catch (error) {
        // One that is killed meanwhile cannot answer; any other has to.
        if (host.life() === life) note([`no answer: ${String(error)}`])
      }
      await pause(everyMs)
    }
  })()
  return {
    faults,
    figures,
    hashes: served.hashes,
    async stop() {
      isOver = true
      await watching
    },
  }
}

async function within<T>(answer: Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(answerWithinMs)
  const lateness = new Promise<never>((_, reject) => {
    late.addEventListener('abort', () => reject(late.reason))
  })
  return await Promise.race([answer, lateness])
}

/** Reads the last sealed block from a Generator's store while no Generator has it open. */
import { existsSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Snapshot } from '../store/store.ts'
import { openWriter } from '../store/write/writer.ts'

export interface LastSealed {
  readonly number: number
  readonly hash: string
}

interface LastSealedOptions {
  readonly storePath: string
  /** As in `Local__Devnet`: a store of another network is refused. */
  readonly network: string
}

/** The highest block with a seal; null without a store. Throws what opening a store throws. */
export async function lastSealedBlock(
  options: LastSealedOptions,
  parts: { readonly log: Logger },
): Promise<LastSealed | null> {
  const { storePath: path, network } = options
  if (!existsSync(path)) return null
  const log = parts.log.child({}, { level: 'warn' })
  const writer = await openWriter({ path, network, retainBlocks: null }, { log })
  try {
    return writer.reader.read(highestSealed)
  } finally {
    await writer.close()
  }
}

function highestSealed(snapshot: Snapshot): LastSealed | null {
  const range = snapshot.range()
  if (range === null) return null
  for (const number of snapshot.heights(range.tail, range.head, true)) {
    const hash = snapshot.header(number)?.hash
    if (hash !== undefined && snapshot.sealsOf(hash).length > 0) return { number, hash }
  }
  return null
}

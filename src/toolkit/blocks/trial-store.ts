/** A store of its own for each test of a View: blocks go into it as they do at a Host, and it is gone afterwards. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ServiceError } from '../../errors.ts'
import { encodeBody, openEncodedBody } from '../../primitives/body/body.ts'
import { toDocuments } from '../../primitives/documents.ts'
import { indexTerms } from '../../primitives/index-terms.ts'
import { sealRoot } from '../../primitives/seal.ts'
import type { BlockToStore, StoreReader } from '../../store/store.ts'
import { openWriter } from '../../store/write/writer.ts'
import type { TrialBlock } from './block-form.ts'
import { silentLog } from './silent-log.ts'

/** What a View is tested on. */
export interface TrialBlocks {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  readonly blocks: readonly TrialBlock[]
}

interface TrialStore {
  readonly path: string
  /** Of the blocks in it, ascending. */
  readonly heights: readonly number[]
  readonly reader: StoreReader
  /** Removes it. */
  close(): Promise<void>
}

/**
 * Stores blocks in a temporary folder.
 * @throws ServiceError `TOOLKIT_FIXTURE_INVALID` for a block that cannot be stored, and what a store throws.
 */
export async function openTrialStore({ network, blocks }: TrialBlocks): Promise<TrialStore> {
  const storable = blocks.map((block, index) => toStorable(network, block, index))
  const path = mkdtempSync(join(tmpdir(), 'viewmesh-trial-'))
  const remove = (): void => rmSync(path, { recursive: true, force: true })
  try {
    const store = await openWriter({ path, network, retainBlocks: null }, { log: silentLog() })
    try {
      await Promise.all(storable.map((block) => store.putBlock(block)))
    } catch (error) {
      await store.close()
      throw error
    }
    return {
      path,
      reader: store.reader,
      heights: blocks.map(({ number }) => number).toSorted((one, other) => one - other),
      close: () => store.close().finally(remove),
    }
  } catch (error) {
    remove()
    throw error
  }
}

function toStorable(
  network: string,
  { number, block, receipts }: TrialBlock,
  index: number,
): BlockToStore {
  try {
    const documents = toDocuments(network, block, receipts)
    const { body, raw, cids } = encodeBody(documents)
    const opened = openEncodedBody({ body, raw })
    const { hash, parentHash, timestamp } = documents
    const header = { number, hash, parentHash, timestamp, sections: opened.counts }
    return {
      header: { ...header, ...sealRoot(cids), bodyBytes: body.length },
      body,
      terms: indexTerms(opened, cids),
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { field = error.message, found = '' } = error.facts
    throw new ServiceError('TOOLKIT_FIXTURE_INVALID', `blocks[${index}]: ${field} ${found}`, {
      remedy:
        'Write hashes as 0x and 64 digits, addresses as 0x and 40, data as 0x and whole bytes; logs in the order of their logIndex.',
    })
  }
}

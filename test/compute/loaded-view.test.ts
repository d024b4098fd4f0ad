/** What is read for the lenses of a View, and what is taken of what they return. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  createViewLoader,
  type LoadedView,
  maxDocumentBytes,
  namingLastLens,
  parseDocument,
  readDocuments,
} from '../../src/compute/loaded-view.ts'
import { ServiceError } from '../../src/errors.ts'
import { prepareProgram } from '../../src/lens/program/program.ts'
import { encodeView } from '../../src/views/wire.ts'
import { buildLens } from '../lens/support/lens.ts'
import { createChain, shapes } from '../support/chain/block-factory.ts'
import { testNetwork } from '../support/chain/sealed-blocks.ts'
import { storableBlock } from '../support/chain/store-blocks.ts'
import { openTestStore } from '../support/test-store.ts'

test('the documents of a block take bytes up to a limit, in however many batches they come', async (t) => {
  const { reader } = await openTestStore(t)
  const half = new Uint8Array(maxDocumentBytes / 2)
  const read = (...batches: readonly (readonly Uint8Array[])[]): Promise<Uint8Array[]> => {
    const documents: LoadedView['documents'] = async function* () {
      yield* batches
    }
    return reader.read((snapshot) => readDocuments({ documents }, snapshot, 7))
  }
  assert.deepEqual((await read([half], [], [half])).length, 2)
  await assert.rejects(read([half, half, Uint8Array.of(1)]), {
    code: 'VIEWS_SELECTION_TOO_LARGE',
    message: 'the documents of one block take more than 67108864 bytes',
  })
  await assert.rejects(read([half], [half], [Uint8Array.of(1)]), {
    code: 'VIEWS_SELECTION_TOO_LARGE',
  })
})

test('what a lens returns is an object, and of anything else its first 80 bytes are shown', () => {
  assert.deepEqual(parseDocument(Buffer.from('{"a":[1]}')), { a: [1] })
  for (const text of ['[]', 'null', '7', '"x"', '{', '', 'x'.repeat(80)])
    assert.throws(() => parseDocument(Buffer.from(text)), {
      code: 'LENS_OUTPUT_INVALID',
      message: `the last lens returned what is not a JSON object: ${JSON.stringify(text)}`,
    })
  assert.throws(() => parseDocument(Buffer.from('x'.repeat(81))), {
    message: `the last lens returned what is not a JSON object: "${'x'.repeat(80)}"`,
  })
})

test('the last lens is named where its rows are refused, and what names a lens already is left', () => {
  const identity = { wasm: buildLens(), args: '' }
  const thrown = (lenses: number, error: Error): unknown => {
    const program = prepareProgram(Array(lenses).fill(identity), 'single')
    try {
      return namingLastLens({ program }, () => {
        throw error
      })
    } catch (named) {
      return named
    }
  }
  const limit = new ServiceError('LENS_OUTPUT_LIMIT', 'a row takes too much', { remedy: 'Less.' })
  assert.deepEqual(
    thrown(2, limit),
    new ServiceError('LENS_OUTPUT_LIMIT', 'lens 2 returns too much: a row takes too much', {
      facts: { lens: 2 },
      remedy: 'Less.',
    }),
  )
  const ofFirst = new ServiceError('LENS_OUTPUT_LIMIT', 'lens 1 returns', { facts: { lens: 1 } })
  const others = [ofFirst, new ServiceError('LENS_FAILED', 'no'), new Error('disk')]
  for (const error of others) assert.equal(thrown(2, error), error)
  assert.equal(thrown(0, limit), limit, 'there is no lens')
})

test('of a block without a log that its lens is known to take, a View reads nothing', async (t) => {
  const store = await openTestStore(t)
  const [source = assert.fail()] = createChain({ count: 1, shape: shapes.sparse })
  await store.putSealedBlock(storableBlock(source))
  const snapshot = store.reader.snapshot()
  t.after(() => snapshot.release())
  const load = createViewLoader(testNetwork)
  const filter = readFileSync(new URL('../../src/lenses/filter.wasm', import.meta.url))
  const countRead = async (wasm: Uint8Array, address: string): Promise<number> => {
    const args = JSON.stringify({ src: 'address', value: address })
    const definition = { query: 'Log { address }', sdl: 'type Logs { address: String }' }
    const view = load(encodeView({ ...definition, lenses: [{ wasm, args }] }))
    return (await readDocuments(view, snapshot, source.number)).length
  }
  const addresses = source.receipts.flatMap(({ logs }) => logs ?? []).map((log) => log.address)
  const once = addresses.find((each) => addresses.indexOf(each) === addresses.lastIndexOf(each))
  const nobody = `0x${'ab'.repeat(20)}`
  assert.equal(await countRead(filter, once ?? assert.fail()), addresses.length)
  assert.equal(await countRead(filter, nobody), 0)
  assert.equal(await countRead(buildLens(), nobody), addresses.length)
})

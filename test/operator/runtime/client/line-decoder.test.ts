import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeLines } from '../../../../operator/runtime/client/line-decoder.ts'

async function* of(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

async function linesOf(chunks: readonly Uint8Array[], maxBytes = 1_000_000): Promise<string[]> {
  const lines: string[] = []
  for await (const line of decodeLines(of(chunks), maxBytes)) lines.push(line)
  return lines
}

/** The bytes, cut at these places. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length]
  const ends = sorted.toSorted((a, b) => a - b)
  return ends.slice(1).map((end, index) => bytes.subarray(ends[index], end))
}

test('lines come out whole, wherever the connection cuts them, within a character too', async () => {
  const line = fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => JSON.stringify({ text }))
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.nat()), async (lines, places) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''))
      assert.deepEqual(await linesOf(cut(bytes, places)), lines)
    }),
  )
})

test('any bytes end in lines or in an error of ours', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 200, size: 'max' }),
      fc.array(fc.nat()),
      async (bytes, places) => {
        const isWhole = bytes.length === 0 || bytes.at(-1) === 0x0a
        const reading = linesOf(cut(bytes, places))
        if (isWhole) assert.ok((await reading).every((line) => !line.includes('\n')))
        else await assert.rejects(reading, { code: 'OPERATOR_API_ANSWER_MALFORMED' })
      },
    ),
  )
})

test('lines without a document are left out, whichever end of line stands there', async () => {
  assert.deepEqual(await linesOf([Buffer.from('\n{"n":1}\n\r\n \n{"n":2}\n')]), [
    '{"n":1}',
    '{"n":2}',
  ])
})

test('a line as long as the bound is read, one byte more is not', async () => {
  assert.deepEqual(await linesOf([Buffer.from('12345\n')], 5), ['12345'])
  const code = 'OPERATOR_API_ANSWER_TOO_LARGE'
  await assert.rejects(linesOf([Buffer.from('123456\n')], 5), { code })
  await assert.rejects(linesOf([Buffer.from('123'), Buffer.from('456')], 5), { code })
  await assert.rejects(linesOf([Buffer.from('123'), Buffer.from('456\n')], 5), { code })
  assert.deepEqual(await linesOf([Buffer.from('123'), Buffer.from('45\n')], 5), ['12345'])
})

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { test } from 'node:test'
import fc from 'fast-check'
import { createMemoryPool } from '../../../src/graphql/budget/memory-pool.ts'
import { parseJson, receiveBody } from '../../../src/graphql/http/request-body.ts'

const tooMany = {
  message:
    'The body has more than 150000 values and brackets. Ask for parts of long lists in several requests.',
  extensions: { code: 'GRAPHQL_SYNTAX_LIMIT' },
}

test('JSON is parsed as everywhere, and any other text is undefined', () => {
  fc.assert(
    fc.property(fc.json({ noUnicodeString: false }), (text) => {
      assert.deepEqual(parseJson(text), JSON.parse(text))
    }),
  )
  assert.equal(parseJson('{"a":'), undefined)
  assert.equal(parseJson(`"${' '.repeat(200_000)}`), undefined, 'a text that does not end')
})

test('a body is refused beyond the limit of values and brackets', () => {
  const zeros = (count: number) => `[${Array(count).fill('0').join(',')}]`
  assert.equal((parseJson(zeros(150_000)) as unknown[]).length, 150_000)
  assert.throws(() => parseJson(zeros(150_001)), tooMany)
  const empty = (count: number) => `[${Array(count).fill('{}').join(',')}]`
  assert.equal((parseJson(empty(75_000)) as unknown[]).length, 75_000)
  assert.throws(() => parseJson(empty(75_001)), tooMany)
})

test('brackets and commas inside strings do not count, however they are escaped', () => {
  const texts = [',[{'.repeat(100_000), '",'.repeat(100_000), '\\",'.repeat(100_000), '\\\\']
  assert.deepEqual(parseJson(JSON.stringify(texts)), texts)
})

test('a body is received whole, reserves four times its size, and is refused beyond its limit', async () => {
  const memory = createMemoryPool({ maxHeldBytes: 1_000 })
  const account = memory.openAccount()
  const pieces = ['{"a"', ':1', '}'].map((text) => Buffer.from(text))
  const body = await receiveBody(Readable.from(pieces), { maxBytes: 7, account })
  assert.equal(body.toString(), '{"a":1}')
  assert.equal(memory.heldBytes(), 28)
  const tooLarge = receiveBody(Readable.from(pieces), { maxBytes: 6, account })
  await assert.rejects(tooLarge, { code: 'FST_ERR_CTP_BODY_TOO_LARGE', statusCode: 413 })
  account.close()
  memory.openAccount().reserve(500)
  const large = [Buffer.alloc(60), Buffer.alloc(60), Buffer.alloc(60)]
  const refused = receiveBody(Readable.from(large), {
    maxBytes: 1_000,
    account: memory.openAccount(),
  })
  await assert.rejects(refused, { extensions: { code: 'GRAPHQL_BUSY' } })
})

test('what follows of a body that is refused is read, and neither kept nor counted', async () => {
  const memory = createMemoryPool({ maxHeldBytes: 1_000 })
  const body = Readable.from([Buffer.alloc(4), Buffer.alloc(4), Buffer.alloc(4), Buffer.alloc(4)])
  const refused = receiveBody(body, { maxBytes: 7, account: memory.openAccount() })
  await assert.rejects(refused, { code: 'FST_ERR_CTP_BODY_TOO_LARGE' })
  await finished(body)
  assert.equal(memory.heldBytes(), 16)
  const other = createMemoryPool({ maxHeldBytes: 1_000 })
  const uneven = Readable.from([40, 200, 10].map((bytes) => Buffer.alloc(bytes)))
  const unfit = receiveBody(uneven, { maxBytes: 1_000, account: other.openAccount() })
  await assert.rejects(unfit, { extensions: { code: 'GRAPHQL_SIZE_LIMIT' } })
  await finished(uneven)
  assert.equal(other.heldBytes(), 160, 'also what there would be room for')
})

test('a body whose connection breaks is an error', async () => {
  const broken = new Error('the connection was reset')
  const body = new Readable({ read: () => undefined })
  const account = createMemoryPool({ maxHeldBytes: 1_000 }).openAccount()
  const received = receiveBody(body, { maxBytes: 7, account })
  body.destroy(broken)
  await assert.rejects(received, broken)
})

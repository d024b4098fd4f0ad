import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import type { TrialBlocks } from '../../../src/toolkit/blocks/trial-store.ts'
import { readHostBlocks } from '../../../src/toolkit/trial/host-blocks.ts'

/** Answers each request with the next text, and the last one over and over; what it was asked is added to `asked`. */
async function openFakeHost(
  t: TestContext,
  answers: readonly string[],
  asked: string[] = [],
): Promise<string> {
  const server = createServer(async (request, response) => {
    asked.push(await text(request))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(answers[Math.min(asked.length, answers.length) - 1])
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const read = (
  url: string,
  count = 2,
  onProgress: (read: number) => void = () => undefined,
): Promise<TrialBlocks> =>
  readHostBlocks({
    host: { url, token: null },
    count,
    signal: new AbortController().signal,
    onProgress,
  })

const head = (numbers: readonly unknown[], typename = 'Ethereum__Mainnet__Block'): string =>
  JSON.stringify({ data: { Block: numbers.map((number) => ({ __typename: typename, number })) } })
const block = (...documents: readonly object[]): string =>
  JSON.stringify({ data: { Ethereum__Mainnet__Block: documents } })

describe('the newest blocks of a Host', () => {
  it('come ascending from block 0 on, and each that was read is reported', async (t) => {
    const blocks = [0, 1].map((number) => block({ number }))
    const url = await openFakeHost(t, [head([1, 0]), ...blocks])
    const counts: number[] = []
    const found = await read(url, 2, (count) => counts.push(count))
    assert.deepEqual(
      [found.blocks.map(({ number }) => number), counts],
      [
        [0, 1],
        [1, 2],
      ],
    )
  })

  it('are asked for without what follows from the place of a document', async (t) => {
    const asked: string[] = []
    await read(await openFakeHost(t, [head([7]), block({ number: 7 })], asked))
    assert.match(`${asked[1]}`, /\bhash\b.*\btransactionIndex\b.*\blogIndex\b/s)
    assert.doesNotMatch(`${asked[1]}`, /blockHash|blockNumber|transactionHash|totalDifficulty/)
  })

  it('are taken where the Host answers with an empty list of errors', async (t) => {
    const answers = [head([7]), block({ number: 7 })]
    const [list, only] = answers.map((answer) => answer.replace('{', '{"errors":[],'))
    const { blocks } = await read(await openFakeHost(t, [`${list}`, `${only}`]), 1)
    assert.equal(blocks.length, 1)
  })
})

describe('blocks of a Host that lies or fails', () => {
  const invalid = { code: 'TOOLKIT_HOST_ANSWER_INVALID' }

  it('are refused where the list of them is none', async (t) => {
    const noList = 'returned something other than a list of blocks'
    const noType = 'does not name the type of its blocks'
    for (const [answer, what] of [
      ['<html>', 'returned something other than JSON: "<html>"'],
      ['null', 'returned something other than a list of documents'],
      ['{"data":{"Block":{}}}', 'returned something other than a list of documents'],
      ...[['7'], [1.5], [-1], [7, 7], [6, 7], [9, 8, 7]].map((list) => [head(list), noList]),
      ...['Query', 'A__B__C__Block', 'A__B__Block__C'].map((name) => [head([7], name), noType]),
    ]) {
      const url = await openFakeHost(t, [`${answer}`])
      await assert.rejects(read(url), { ...invalid, message: `${url} ${what}` }, answer)
    }
  })

  it('are refused where a block is another one, gone, or malformed', async (t) => {
    const answered = async (...blocks: readonly string[]) =>
      read(await openFakeHost(t, [head([7]), ...blocks]))
    await assert.rejects(answered(block({ number: 8 })), invalid)
    const [first, other] = [block({ number: 6 }), block({ number: 8 })]
    const url = await openFakeHost(t, [head([7, 6]), first, other])
    await assert.rejects(read(url), {
      ...{ ...invalid, message: `${url} answered another block than the one it was asked for` },
    })
    await assert.rejects(answered('{"data":{"B":[]}}'), invalid)
    await assert.rejects(answered(block({ number: 7 }, { number: 7 })), invalid)
    await assert.rejects(answered(block({ number: 7, transactions: 1 })), {
      code: 'TOOLKIT_FIXTURE_INVALID',
    })
    const { network, blocks } = await answered(block({ number: 7 }))
    assert.equal(network, 'Ethereum__Mainnet')
    assert.deepEqual(
      blocks.map(({ number }) => number),
      [7],
    )
  })

  it('say why the Host refuses the query', async (t) => {
    const url = await openFakeHost(t, ['{"errors":[{"message":"busy"}]}'])
    await assert.rejects(read(url), {
      code: 'TOOLKIT_HOST_REFUSED',
      message: 'the Host refuses a query: busy',
    })
    const long = JSON.stringify({ errors: [{ message: `b\n${'u'.repeat(2_000)}` }] })
    await assert.rejects(read(await openFakeHost(t, [long])), {
      message: `the Host refuses a query: b ${'u'.repeat(998)}`,
    })
    await assert.rejects(read(await openFakeHost(t, [head([])])), { code: 'TOOLKIT_HOST_REFUSED' })
  })

  it('are no blocks where nobody answers, or the URL is none', async () => {
    await assert.rejects(read('http://127.0.0.1:9'), { code: 'TOOLKIT_HOST_UNREACHABLE' })
    for (const url of ['ftp://x', 'localhost:9181', 'http://me:secret@x'])
      await assert.rejects(read(url), { code: 'TOOLKIT_HOST_URL_INVALID' })
  })
})

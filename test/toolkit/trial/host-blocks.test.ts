import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import type { TrialBlocks } from '../../../src/toolkit/blocks/trial-store.ts'
import { readHostBlocks } from '../../../src/toolkit/trial/host-blocks.ts'

/** Answers each request with the next text, and the last one over and over. */
async function openFakeHost(t: TestContext, ...answers: readonly string[]): Promise<string> {
  let next = 0
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(answers[Math.min(next, answers.length - 1)])
    next += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const read = (url: string, count = 2): Promise<TrialBlocks> =>
  readHostBlocks({
    host: { url, token: null },
    count,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  })

const head = (numbers: readonly unknown[], typename = 'Ethereum__Mainnet__Block'): string =>
  JSON.stringify({ data: { Block: numbers.map((number) => ({ __typename: typename, number })) } })
const block = (document: object): string =>
  JSON.stringify({ data: { Ethereum__Mainnet__Block: [document] } })

describe('blocks of a Host that lies or fails', () => {
  const invalid = { code: 'TOOLKIT_HOST_ANSWER_INVALID' }

  it('are refused where the list of them is none', async (t) => {
    for (const answer of [
      '<html>',
      'null',
      '{"data":{"Block":{}}}',
      head(['7']),
      head([1.5]),
      head([7, 7]),
      head([6, 7]),
      head([9, 8, 7]),
      head([7], 'Query'),
      head([7], 'A__B__C__Block'),
    ])
      await assert.rejects(read(await openFakeHost(t, answer)), invalid, answer)
  })

  it('are refused where a block is another one, gone, or malformed', async (t) => {
    const answered = async (...blocks: readonly string[]) =>
      read(await openFakeHost(t, head([7]), ...blocks))
    await assert.rejects(answered(block({ number: 8 })), invalid)
    await assert.rejects(answered('{"data":{"B":[]}}'), invalid)
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
    const url = await openFakeHost(t, '{"errors":[{"message":"busy"}]}')
    await assert.rejects(read(url), {
      code: 'TOOLKIT_HOST_REFUSED',
      message: 'the Host refuses a query: busy',
    })
    await assert.rejects(read(await openFakeHost(t, head([]))), { code: 'TOOLKIT_HOST_REFUSED' })
  })

  it('are no blocks where nobody answers, or the URL is none', async () => {
    await assert.rejects(read('http://127.0.0.1:9'), { code: 'TOOLKIT_HOST_UNREACHABLE' })
    for (const url of ['ftp://x', 'localhost:9181', 'http://me:secret@x'])
      await assert.rejects(read(url), { code: 'TOOLKIT_HOST_URL_INVALID' })
  })
})

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { viewOfEvent } from '../../../src/toolkit/views/from-abi.ts'
import { openTestTerminal } from '../support/test-terminal.ts'

const transfer = {
  ...{ type: 'event', name: 'Transfer' },
  inputs: [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256' },
  ],
}
const abi = [{ type: 'function', name: 'transfer', inputs: [] }, transfer]
const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

test('create --from-abi writes query, SDL and arguments for one event of one contract', async (context) => {
  const { json, cwd } = await openTestTerminal(context)
  await writeFile(join(cwd, 'Token.json'), JSON.stringify({ contractName: 'Token', abi }))
  const flags = ['--from-abi', 'Token.json', '--event', 'Transfer', '--address', address]
  const view = await json('view', 'create', 'Payments', ...flags)
  const { lenses, ...parts } = view as { lenses: { args: unknown }[] }
  assert.deepEqual(parts, {
    ...{ name: 'Payments', revision: 1 },
    query: `Log(filter: {address: {_eq: "${address.toLowerCase()}"}}) { address topics data blockNumber logIndex transactionHash }`,
    sdl: `"Events Transfer of ${address.toLowerCase()}."
type Payments @materialized(if: true) {
  logAddress: String @index
  event: String
  signature: String
  arguments: JSON
  hash: String
  blockNumber: Int
  logIndex: Int
}`,
  })
  assert.deepEqual(
    lenses.map(({ args }) => args),
    [{ abi: JSON.stringify([transfer]), unmatched: 'drop' }],
  )
})

test('a View whose name no type can have gets one of the event', async (context) => {
  const { run } = await openTestTerminal(context)
  const argv = ['view', 'create', 'my-view', '--from-abi', '-', '--event', 'Transfer', '--json']
  const { stdout } = await run(argv, { stdin: JSON.stringify(abi) })
  assert.match(JSON.parse(stdout).sdl, /^type TransferEvent @materialized/m)
})

test('an event that the ABI lacks is refused with the nearest one and all there are', async (context) => {
  const { run } = await openTestTerminal(context)
  const argv = ['view', 'create', 'P', '--from-abi', '-', '--event', 'Transfr']
  assert.deepEqual(await run(argv, { stdin: JSON.stringify(abi) }), {
    ...{ exitCode: 1, stdout: '' },
    stderr:
      'error: the ABI has no event "Transfr"; did you mean Transfer?\nWhat to do: Its events are: Transfer.\n',
  })
})

test('a View takes the name that it has where a type can have it, else that of the event', async () => {
  const typeOf = async (name: string, event = 'Transfer'): Promise<string | undefined> => {
    const abi = JSON.stringify([{ type: 'event', name: event }])
    const { sdl } = await viewOfEvent({ name, abi, event, address: undefined })
    return /^type (\S+) /m.exec(`${sdl}`)?.[1]
  }
  assert.equal(await typeOf('a_1'), 'a_1')
  for (const name of ['a__b', 'my-view', 'Log', 'PaymentFilterArg'])
    assert.equal(await typeOf(name), 'TransferEvent', name)
  assert.equal(await typeOf('Log', '$Paid_Out'), 'PaidOutEvent')
})

test('an event of any contract is not asked for by address, and comes in all its forms', async () => {
  const other = { ...transfer, inputs: [] }
  const text = JSON.stringify([transfer, null, { type: 'error', name: 'Transfer' }, other])
  const given = { name: 'P', abi: text, event: 'Transfer', address: undefined }
  const { query, sdl, lenses } = await viewOfEvent(given)
  assert.equal(query, 'Log { address topics data blockNumber logIndex transactionHash }')
  assert.match(`${sdl}`, /^"Events Transfer\."\n/)
  assert.equal(lenses[0]?.args?.['abi'], JSON.stringify([transfer, other]))
})

test('of an ABI without the event twenty others are named, each once, or none', async () => {
  const remedyOf = async (names: readonly string[]): Promise<unknown> => {
    const abi = JSON.stringify(names.map((name) => ({ type: 'event', name })))
    return viewOfEvent({ name: 'P', abi, event: 'Transfer', address: undefined }).then(
      () => assert.fail('it was taken'),
      ({ remedy }) => remedy,
    )
  }
  const names = Array.from({ length: 21 }, (_, index) => `E${index}`)
  const shown = `Its events are: ${names.slice(0, 20).join(', ')}.`
  assert.deepEqual(
    await Promise.all([names, names.flatMap((name) => [name, name]), []].map(remedyOf)),
    [shown, shown, 'Its events are: none.'],
  )
})

for (const wrong of [
  '',
  '0x',
  address.slice(1),
  `${address}0`,
  address.slice(0, -1),
  `${address}\n0`,
])
  test(`--address ${JSON.stringify(wrong)} is wrong usage`, async () => {
    const given = { name: 'P', abi: JSON.stringify(abi), event: 'Transfer', address: wrong }
    await assert.rejects(viewOfEvent(given), {
      code: 'TOOLKIT_USAGE_INVALID',
      message: `--address takes no ${JSON.stringify(wrong)}`,
    })
  })

for (const text of ['', '{}', '3', 'null', '{"abi": {}}', '[null, 1, "x", {"type": "event"}]'])
  test(`the file ${JSON.stringify(text)} is refused as an ABI`, async (context) => {
    const { run } = await openTestTerminal(context)
    const argv = ['view', 'create', 'P', '--from-abi', '-', '--event', 'Transfer']
    const { exitCode, stderr } = await run(argv, { stdin: text })
    assert.equal(exitCode, 1)
    assert.match(stderr, /^error: the (?:file|ABI) /)
  })

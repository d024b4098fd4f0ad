/** How the file of a View is made from its definition and the ConfigMaps with its lenses. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { ViewDefinition } from '../../../../operator/api/view-spec.ts'
import type { ViewResource } from '../../../../operator/api.ts'
import {
  buildView,
  type DefinitionResult,
  type ReadView,
  readStored,
  senderOf,
} from '../../../../operator/reconcile/fetch/view-definition.ts'
import type { KubernetesObject } from '../../../../operator/runtime/client/kubernetes-object.ts'
import { parseViewFile, toViewFile } from '../../../../src/views/view-file.ts'
import { noSender, viewIDs } from '../../../../src/views/view-id.ts'
import { decodeView, encodeView } from '../../../../src/views/wire.ts'
import {
  lensDefinition,
  lensMap,
  moduleBytes,
  plainDefinition,
  viewWith,
} from '../../../support/resources/view-cases.ts'

const { signal } = new AbortController()
const creator = `0x${'ab'.repeat(20)}`
const view = viewWith('senders', { definition: lensDefinition }, 'apps')
const registered: ViewResource = {
  ...view,
  status: { registration: { state: 'Prepared', attempt: 0, creator: `0x${'AB'.repeat(20)}` } },
}

/** What comes of a definition where the cluster has this ConfigMap. */
async function built(
  definition: ViewDefinition,
  map: KubernetesObject | null = lensMap('apps'),
  of: ViewResource = view,
): Promise<DefinitionResult> {
  const find = async (address: { namespace?: string; name: string }): Promise<unknown> => {
    assert.deepEqual([address.namespace, address.name], ['apps', 'lenses'])
    return map
  }
  return await buildView({ find } as never, of, definition, signal)
}

async function viewOf(...given: Parameters<typeof built>): Promise<ReadView> {
  const { view: found } = await built(...given)
  return found ?? assert.fail('there is no View')
}

test('the file of a View has its query, its schema and its lenses, with arguments by name', async () => {
  const { file, id, address, type } = await viewOf(lensDefinition)
  const { sender, wire } = parseViewFile(Buffer.from(file.bytes, 'base64'))
  const { query, sdl } = plainDefinition
  const lenses = [{ wasm: moduleBytes, args: '{"a":"1","b":"2"}' }]
  assert.deepEqual(wire, encodeView({ query, sdl, lenses }))
  assert.equal(sender, noSender)
  assert.deepEqual({ id, address }, viewIDs(noSender, wire))
  assert.deepEqual([file.name, type], [`${id}.view`, 'Sender'])
})

test('a View has the address that registers it in its ID, once that is known', async () => {
  assert.equal(senderOf(view), noSender)
  assert.equal(senderOf(registered), creator)
  const own = await viewOf(lensDefinition, lensMap('apps'), registered)
  const other = await viewOf(lensDefinition)
  assert.notEqual(own.id, other.id)
  assert.equal(parseViewFile(Buffer.from(own.file.bytes, 'base64')).sender, creator)
})

test('a lens without arguments has none, and a View needs no lens', async () => {
  const [lens] = lensDefinition.lenses ?? []
  const { arguments: _, ...bare } = lens ?? assert.fail()
  const { file } = await viewOf({ ...plainDefinition, lenses: [bare] })
  const { wire } = parseViewFile(Buffer.from(file.bytes, 'base64'))
  assert.deepEqual(
    decodeView(wire).lenses.map(({ args }) => args),
    [''],
  )
  assert.equal((await viewOf(plainDefinition, null)).type, 'Sender')
})

test('a lens that is not there, or is another one, is named with what to do', async () => {
  const create =
    'where lens pass is. Create it: kubectl create configmap lenses -n apps --from-file=pass.wasm=FILE.wasm'
  assert.deepEqual((await built(lensDefinition, null)).wrong, {
    reason: 'LensMissing',
    message: `There is no ConfigMap lenses, ${create}`,
  })
  const empty = { ...lensMap('apps'), binaryData: {} }
  assert.deepEqual((await built(lensDefinition, empty)).wrong, {
    reason: 'LensMissing',
    message: `ConfigMap lenses has no pass.wasm in binaryData, ${create}`,
  })
  const other = Buffer.from('another')
  const [hash, wanted] = [other, moduleBytes].map((bytes) =>
    createHash('sha256').update(bytes).digest('hex'),
  )
  assert.deepEqual((await built(lensDefinition, lensMap('apps', other))).wrong, {
    reason: 'LensMismatch',
    message: `Key pass.wasm of ConfigMap lenses, where lens pass is, has the SHA-256 ${hash}, and the spec says ${wanted}. Put the right module there, or create another View with this hash.`,
  })
})

test('a definition that no Host would take says what is wrong with it', async () => {
  const invalid = await built({ ...plainDefinition, sdl: 'type {' })
  assert.equal(invalid.wrong?.reason, 'InvalidDefinition')
  const bytes = Buffer.alloc(2 ** 24)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const [lens] = lensDefinition.lenses ?? []
  const { wasm, ...rest } = lens ?? assert.fail()
  const lenses = [{ ...rest, wasm: { ...wasm, sha256 } }]
  const large = await built({ ...plainDefinition, lenses }, lensMap('apps', bytes))
  assert.equal(large.wrong?.reason, 'TooLarge')
})

test('what the API server answers otherwise is thrown, for another try', async () => {
  const find = async (): Promise<never> => await Promise.reject(new Error('unreachable'))
  await assert.rejects(
    buildView({ find } as never, view, lensDefinition, signal),
    /^Error: unreachable$/,
  )
})

test('a file that was kept stands for the definition that it was made from, and for no other', async () => {
  const { file, ...names } = await viewOf(lensDefinition)
  const [lens] = lensDefinition.lenses ?? []
  const { wasm, ...rest } = lens ?? assert.fail()
  assert.deepEqual(readStored(lensDefinition, file, noSender), { file, ...names })
  for (const other of [
    { ...lensDefinition, query: 'Log { data }' },
    { ...lensDefinition, sdl: 'type Other { address: String }' },
    plainDefinition,
    { ...plainDefinition, lenses: [{ ...rest, wasm, arguments: { a: '2' } }] },
    { ...plainDefinition, lenses: [{ ...rest, wasm: { ...wasm, sha256: '0'.repeat(64) } }] },
    { ...lensDefinition, lenses: [...(lensDefinition.lenses ?? []), { ...rest, wasm }] },
  ])
    assert.equal(readStored(other, file, noSender), null)
})

test('a file that was kept is of no definition where one of several lenses is another', async () => {
  const [lens] = lensDefinition.lenses ?? []
  const { arguments: _, ...bare } = lens ?? assert.fail()
  const lensesOf = (...args: readonly string[]): ViewDefinition => ({
    ...plainDefinition,
    lenses: args.map((a) => ({ ...bare, arguments: { a } })),
  })
  const { file, id } = await viewOf(lensesOf('1', '2'))
  assert.equal(readStored(lensesOf('1', '2'), file, noSender)?.id, id)
  for (const other of [lensesOf('1', '3'), lensesOf('3', '2'), lensesOf('2', '1')])
    assert.equal(readStored(other, file, noSender), null)
})

test('a kept file of nobody is that of whoever registers it, one of somebody else is nobody’s', async () => {
  const { file } = await viewOf(lensDefinition)
  const own = await viewOf(lensDefinition, lensMap('apps'), registered)
  assert.deepEqual(readStored(lensDefinition, file, creator), own)
  assert.deepEqual(readStored(lensDefinition, own.file, creator), own)
  assert.equal(readStored(lensDefinition, own.file, noSender), null)
})

test('a kept file that is damaged, or has another name, is none', async () => {
  const { file } = await viewOf(lensDefinition)
  assert.equal(readStored(lensDefinition, { ...file, bytes: 'AAAA' }, noSender), null)
  assert.equal(readStored(lensDefinition, { ...file, name: 'other.view' }, noSender), null)
  const wire = encodeView({ ...plainDefinition, lenses: [] })
  const { bytes } = toViewFile({ sender: noSender, wire })
  const swapped = { ...file, bytes: Buffer.from(bytes).toString('base64') }
  assert.equal(readStored(plainDefinition, swapped, noSender), null)
  const noFile = { ...file, bytes: undefined as never }
  assert.throws(() => readStored(lensDefinition, noFile, noSender), TypeError)
})

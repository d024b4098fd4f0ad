/** Where rows of a condition can be, as the indexes of a store know it, without any store. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCatalog, hostCollections } from '../../../src/graphql/catalog/catalog.ts'
import type { Attribute, Entity, EntityName } from '../../../src/graphql/catalog/entity.ts'
import { viewEntity } from '../../../src/graphql/catalog/view-entity.ts'
import type { FilterCondition } from '../../../src/graphql/filter/condition.ts'
import type { Operand, Operator } from '../../../src/graphql/filter/value-test.ts'
import { type Hint, hintOf } from '../../../src/graphql/scan/index-hint.ts'
import { docIDs } from '../../../src/primitives/doc-id.ts'
import type { TermKind } from '../../../src/primitives/index-terms.ts'
import { rowID } from '../../../src/views/rows/row-id.ts'
import { rowTermValue } from '../../../src/views/rows/rows.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { servedView } from '../support/served-views.ts'

const catalog = createCatalog(testNetwork, hostCollections)
const entityOf = (name: EntityName): Entity => catalog.get(name) ?? assert.fail(name)
const served = servedView('type Named { name: String @index tags: [String] @index n: Int }')
const view = viewEntity(served, null)

function attributeOf({ attributes }: Entity, name: string): Attribute {
  return attributes.get(name) ?? assert.fail(`no ${name}`)
}

function valueHint(
  entity: Entity,
  name: string,
  operand: Operand | readonly Operand[],
  operator: Operator = '_eq',
): Hint {
  const attribute = attributeOf(entity, name)
  return hintOf(entity, { op: 'value', attribute, operator, operand })
}

const all: Hint = { type: 'all' }
const none: Hint = { type: 'none' }

const hash = `0x${'ab'.repeat(32)}`
const address = `0x${'cd'.repeat(20)}`
const bytesOf = (text: string): Buffer => Buffer.from(text.slice(2), 'hex')
const term = (kind: TermKind, text: string): Hint => ({ type: 'term', kind, value: bytesOf(text) })
const block: Hint = { type: 'block', hash }
const transaction: Hint = { type: 'unique', kind: 'transactionHash', value: bytesOf(hash) }

const [blockID, transactionID, logID, entryID, sealID] = [
  docIDs.block(hash),
  docIDs.transaction(hash),
  docIDs.log(hash, 7),
  docIDs.entry(hash, 3),
  docIDs.seal(hash, '02'.repeat(33)),
]
const allIDs = [blockID, transactionID, logID, entryID, sealID]

const known: readonly (readonly [EntityName, string, string, Hint])[] = [
  ['Block', 'hash', hash, block],
  ['Block', '_docID', blockID, block],
  ['Transaction', 'hash', hash, transaction],
  ['Transaction', '_docID', transactionID, transaction],
  ['Transaction', 'blockHash', hash, block],
  ['Transaction', 'block_id', blockID, block],
  ['Transaction', 'from', address, term('from', address)],
  ['Transaction', 'to', address, term('to', address)],
  ['Log', '_docID', logID, { type: 'log', hash, logIndex: 7 }],
  ['Log', 'address', address, term('logAddress', address)],
  ['Log', 'blockHash', hash, block],
  ['Log', 'block_id', blockID, block],
  ['Log', 'transactionHash', hash, transaction],
  ['Log', 'transaction_id', transactionID, transaction],
  ['AccessListEntry', '_docID', entryID, transaction],
  ['AccessListEntry', 'transaction_id', transactionID, transaction],
  ['BlockSignature', '_docID', sealID, block],
  ['BlockSignature', 'blockHash', hash, block],
]

test('a value that is indexed names its places, and one that cannot be a value of the field none', () => {
  for (const [name, field, value, hint] of known) {
    const entity = entityOf(name)
    const of = (operand: Operand) => valueHint(entity, field, operand)
    assert.deepEqual(of(value), hint, `${name}.${field}`)
    const isID = allIDs.includes(value)
    const wrong = isID ? allIDs.filter((id) => id !== value) : [`${value}00`, value.slice(2)]
    for (const each of [...wrong, '0xab', '']) assert.deepEqual(of(each), none, `${field} ${each}`)
    assert.deepEqual(of(null), all, 'rows without a value are not indexed')
  }
  assert.deepEqual(valueHint(entityOf('Transaction'), 'value', '0x1'), all)
})

test('of the operators on an indexed field the equal ones alone name places', () => {
  const of = (operator: Operator, operand: Operand | readonly Operand[]) =>
    valueHint(entityOf('Log'), 'blockHash', operand, operator)
  for (const operator of ['_neq', '_like', '_gt'] as const)
    assert.deepEqual(of(operator, hash), all, operator)
  assert.deepEqual(of('_nin', [hash]), all)
  const other = hash.replaceAll('ab', 'cd')
  const otherBlock = { type: 'block', hash: other }
  assert.deepEqual(of('_in', [hash, '0x', other]), { type: 'or', parts: [block, otherBlock] })
  assert.deepEqual(of('_in', ['0x', hash]), block)
  assert.deepEqual(of('_in', [hash, null]), all)
  assert.deepEqual(of('_in', []), none)
})

test('a condition on the number of a block names heights', () => {
  const of = (operator: Operator, operand: Operand | readonly Operand[]) =>
    valueHint(entityOf('Log'), 'blockNumber', operand, operator)
  assert.deepEqual(of('_leq', 5), { type: 'heights', heights: [[0, 5]] })
  assert.deepEqual(of('_in', [5, 7, 6]), { type: 'heights', heights: [[5, 7]] })
  assert.deepEqual([of('_lt', 0), of('_in', []), of('_neq', 5)], [none, none, all])
})

test('an attestation record is at the height that its text, a pattern of it, or its docID names', () => {
  const record = entityOf('AttestationRecord')
  const five = { type: 'heights', heights: [[5, 5]] }
  const of = (operator: Operator, text: string) => valueHint(record, 'attested_doc', text, operator)
  assert.deepEqual([of('_eq', 'block:5:ab'), of('_like', 'block:5:%')], [five, five])
  assert.deepEqual([of('_like', '%a'), of('_like', 'a'), of('_neq', 'a')], [all, none, all])
  const id = `attestation-block:5:${'ab'.repeat(32)}`
  assert.deepEqual(valueHint(record, '_docID', id), five)
  assert.deepEqual(valueHint(record, '_docID', id, '_like'), all)
})

const asked = (name: string, operand: Operand): FilterCondition => {
  const attribute = attributeOf(entityOf('Log'), name)
  return { op: 'value', attribute, operator: '_eq', operand }
}
const [inBlock, byAddress] = [asked('blockHash', hash), asked('address', address)]
const [unindexed, nowhere] = [asked('data', '0x'), asked('blockHash', '0x')]

test('of parts that all have to hold one that names places is enough, of others none is left out', () => {
  const of = (op: 'and' | 'or', ...parts: FilterCondition[]) =>
    hintOf(entityOf('Log'), { op, parts })
  const both = [block, term('logAddress', address)]
  assert.deepEqual(of('and', inBlock, unindexed, byAddress), { type: 'and', parts: both })
  assert.deepEqual(of('and', unindexed, inBlock), block)
  assert.deepEqual([of('and', unindexed), of('and', inBlock, nowhere)], [all, none])
  assert.deepEqual(of('or', inBlock, nowhere, byAddress), { type: 'or', parts: both })
  assert.deepEqual(of('or', nowhere, inBlock), block)
  assert.deepEqual([of('or', inBlock, unindexed), of('or', nowhere, nowhere)], [all, none])
  for (const op of ['all', 'none'] as const)
    assert.deepEqual(hintOf(entityOf('Log'), { op }), { type: op })
  assert.deepEqual(hintOf(entityOf('Log'), { op: 'not', part: inBlock }), all)
})

test('what is asked of linked rows leads to them, in their section', () => {
  const of = (from: EntityName, name: string, part: FilterCondition) => {
    const [entity, link] = [entityOf(from), entityOf(from).links.get(name) ?? assert.fail(name)]
    const target = entityOf(link.target as EntityName)
    return hintOf(entity, { op: 'link', link, target, part })
  }
  const linked = { type: 'linked', section: 'Log', part: term('logAddress', address) }
  assert.deepEqual(of('Transaction', 'logs', byAddress), linked)
  const number = attributeOf(entityOf('Log'), 'blockNumber')
  const atFive: FilterCondition = { op: 'value', attribute: number, operator: '_eq', operand: 5 }
  const five = { type: 'heights', heights: [[5, 5]] }
  assert.deepEqual(of('Transaction', 'logs', atFive), five)
  for (const op of ['all', 'none'] as const)
    assert.deepEqual(of('Transaction', 'logs', { op }), { type: op })
})

test('a list names the places of its elements where one or all of them are given', () => {
  const log = entityOf('Log')
  const attribute = attributeOf(log, 'topics')
  const topic = term('topic', hash)
  const any = (
    part: Extract<FilterCondition, { op: 'elements' }>['part'],
    quantifier: '_any' | '_all' | '_none' = '_any',
  ) => hintOf(log, { op: 'elements', attribute, quantifier, part })
  const equal = { operator: '_eq', operand: hash } as const
  assert.deepEqual(any([equal]), topic)
  assert.deepEqual(any([{ operator: '_in', operand: [hash, '0x'] }]), topic)
  assert.deepEqual(any([{ operator: '_neq', operand: hash }]), all)
  assert.deepEqual(any([equal, { operator: '_like', operand: '%' }]), topic)
  assert.deepEqual(any([{ operator: '_eq', operand: null }]), none)
  for (const quantifier of ['_all', '_none'] as const)
    assert.deepEqual(any([equal], quantifier), all)
  const list = (items: readonly Operand[] | null, isEqual = true) =>
    hintOf(log, { op: 'list', attribute, isEqual, items })
  assert.deepEqual(list([hash, hash]), { type: 'and', parts: [topic, topic] })
  assert.deepEqual([list([hash]), list([hash, '0x'])], [topic, none])
  assert.deepEqual([list(null), list([]), list([hash], false)], [all, all, all])
})

test('a CID names its one place', () => {
  const cid = Uint8Array.of(1, 2, 3)
  const unique = { type: 'unique', kind: 'cid', value: cid }
  assert.deepEqual(hintOf(entityOf('Log'), { op: 'cid', cid }), unique)
})

test('a View names the rows of its indexed fields, and the block of a row of its own', () => {
  const rowsWith = (field: number, text: string) => {
    return { type: 'rows', rows: view.view, field, value: rowTermValue(text) }
  }
  assert.deepEqual(valueHint(view, 'name', 'a'), rowsWith(0, 'a'))
  assert.deepEqual([valueHint(view, 'name', null), valueHint(view, 'n', 1)], [all, all])
  const list: FilterCondition = {
    ...{ op: 'list', attribute: attributeOf(view, 'tags'), isEqual: true, items: ['b'] },
  }
  assert.deepEqual(hintOf(view, list), rowsWith(1, 'b'))
  const idOf = (of: string) => rowID({ view: of, blockHash: hash, position: 2 })
  assert.deepEqual(valueHint(view, '_docID', idOf(served.id)), block)
  for (const id of [idOf(hash), blockID, '']) assert.deepEqual(valueHint(view, '_docID', id), none)
})

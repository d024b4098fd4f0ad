import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type GraphQLError, parse } from 'graphql'
import { createCatalog, hostCollections } from '../../../src/graphql/catalog/catalog.ts'
import { noAliases } from '../../../src/graphql/filter/filter.ts'
import {
  type Arguments,
  everyRow,
  type ListRequest,
  toListRequest,
  wholeNumber,
} from '../../../src/graphql/filter/list-request.ts'
import { cidText } from '../../../src/primitives/cid-text.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'

const catalog = createCatalog(testNetwork, hostCollections)
const entity = catalog.get('Log') ?? assert.fail('logs are served')
const attribute = entity.attributes.get('_docID') ?? assert.fail('logs have docIDs')
const [node = assert.fail('there is a node')] = parse('{ Log }').definitions

const requestOf = (args: Arguments): ListRequest =>
  toListRequest(catalog, entity, args, noAliases, node)

test('a list without arguments, or with null for each, has every row in chain order', () => {
  assert.deepEqual(requestOf({}), everyRow)
  const nothing = { docID: null, cid: null, filter: null, order: null, limit: null, offset: null }
  assert.deepEqual(requestOf(nothing), everyRow)
})

test('a limit of 0 is none, and neither it nor an offset is negative', () => {
  const { limit, offset } = requestOf({ limit: 5, offset: 2 })
  assert.deepEqual([limit, offset], [5, 2])
  assert.equal(requestOf({ limit: 0, offset: 0 }).limit, Number.POSITIVE_INFINITY)
  for (const name of ['limit', 'offset'])
    assert.throws(
      () => requestOf({ [name]: -1 }),
      ({ message, nodes, extensions }: GraphQLError) => {
        assert.match(message, new RegExp(`^The ${name} -1 is negative\\.`))
        assert.deepEqual([nodes, extensions['code']], [[node], 'GRAPHQL_CONDITION_INVALID'])
        return true
      },
    )
  assert.deepEqual(
    [undefined, null, 0, 3].map((each) => wholeNumber('limit', each)),
    [0, 0, 0, 3],
  )
})

test('docIDs are looked for in any case, each once, and a CID by its bytes', () => {
  const among = (...operand: string[]) => ({ op: 'value', attribute, operator: '_in', operand })
  assert.deepEqual(requestOf({ docID: 'LOG-0xAB-1' }).condition, among('log-0xab-1'))
  assert.deepEqual(requestOf({ docID: ['a', 'B', 'A'] }).condition, among('a', 'b'))
  const cid = Uint8Array.of(0x01, 0x71, 0x12, 0x20, ...Array(32).fill(7))
  assert.deepEqual(requestOf({ cid: cidText(cid) }).condition, { op: 'cid', cid })
  assert.throws(
    () => requestOf({ cid: 'bafy' }),
    ({ message, nodes, extensions }: GraphQLError) => {
      assert.match(message, /^invalid cid: selected encoding not supported\./)
      assert.deepEqual([nodes, extensions['code']], [[node], 'GRAPHQL_CONDITION_INVALID'])
      return true
    },
  )
})

test('a filter that is refused is refused at the place of its field, where that is known', () => {
  const filter = { data: { _like: `%${'x'.repeat(201)}%` } }
  const refusalAt = (at?: typeof node): GraphQLError => {
    try {
      toListRequest(catalog, entity, { filter }, noAliases, at)
    } catch (error) {
      return error as GraphQLError
    }
    return assert.fail('it is refused')
  }
  const [placed, unplaced] = [refusalAt(node), refusalAt()]
  assert.deepEqual([placed.nodes, unplaced.nodes], [[node], undefined])
  assert.deepEqual([placed.message, placed.extensions], [unplaced.message, unplaced.extensions])
})

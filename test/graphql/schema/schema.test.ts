import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isObjectType,
  validateSchema,
} from 'graphql'
import { createCatalog, hostCollections } from '../../../src/graphql/catalog/catalog.ts'
import type { Entity } from '../../../src/graphql/catalog/entity.ts'
import { foldOf } from '../../../src/graphql/catalog/spelling.ts'
import { viewAttestation } from '../../../src/graphql/catalog/view-attestation.ts'
import { viewEntity } from '../../../src/graphql/catalog/view-entity.ts'
import { createSchema } from '../../../src/graphql/schema/schema.ts'
import { openGraphqlRoom } from '../support/graphql-room.ts'
import { servedView } from '../support/served-views.ts'

const schema = createSchema(createCatalog('Ethereum__Mainnet', hostCollections))

test('the schema is valid', () => {
  assert.deepEqual(validateSchema(schema), [])
})

test('one request may ask for introspection and data', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = `query($n: String!) { a: Block(limit: 1) { number } ...x }
    fragment x on Query { t: __type(name: $n) { name fields { name } } }`
  const data = await query(text, { n: 'Signature' })
  assert.deepEqual(data, {
    a: [{ number: 1 }],
    t: { name: 'Signature', fields: [{ name: 'type' }, { name: 'identity' }, { name: 'value' }] },
  })
})

test('every field and argument has a description', () => {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType)
  const fields = types
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((type) => Object.values(type.getFields()).map((field) => ({ type, field })))
  const isBare = ({ description }: { readonly description?: string | null | undefined }) =>
    (description?.split(' ').length ?? 0) < 2
  const bare = fields.flatMap(({ type, field }) => {
    // The arguments of aggregates are named after the fields that they take.
    const explained = foldOf(field.name) === undefined ? field.args : []
    return [field, ...explained].filter(isBare).map(({ name }) => `${type.name}.${name}`)
  })
  assert.deepEqual(bare, [])
})

/** Names that users write in variable definitions, or read in an explorer. */
test('the names of the types are those that users know', () => {
  const prefix = 'Ethereum__Mainnet__'
  const names = Object.keys(schema.getTypeMap())
  for (const name of [
    'Block',
    'Transaction',
    'Log',
    'AccessListEntry',
    'BlockSignature',
    'SnapshotSignature',
    'AttestationRecord',
  ]) {
    for (const suffix of [
      '',
      'FilterArg',
      'OrderArg',
      'Field',
      'NumericFieldsArg',
      '__CountSelector',
      '__NumericSelector',
    ]) {
      assert.ok(names.includes(`${prefix}${name}${suffix}`), `${name}${suffix}`)
    }
  }
  for (const name of [
    'IntOperatorBlock',
    'StringOperatorBlock',
    'BooleanOperatorBlock',
    'IDOperatorBlock',
    'StringListOperatorBlock',
    'StringFilterArg',
    'Ordering',
    'Commit',
    'CommitLink',
    'Signature',
    'JSON',
    `${prefix}Log__topics__CountSelector`,
  ]) {
    assert.ok(names.includes(name), name)
  }
})

test('introspection shows one spelling and marks the others as deprecated', () => {
  const shown = (kind: string): string[] => {
    const block = schema.getType(`${kind}OperatorBlock`)
    assert.ok(isInputObjectType(block))
    const fields = Object.values(block.getFields())
    return fields.filter((field) => field.deprecationReason === undefined).map(({ name }) => name)
  }
  const [equality, membership] = [
    ['_eq', '_neq'],
    ['_in', '_nin'],
  ] as const
  const ranges = ['_gt', '_geq', '_lt', '_leq']
  const patterns = ['_like', '_nlike', '_ilike', '_nilike']
  assert.deepEqual(shown('Int'), [...equality, ...ranges, ...membership])
  assert.deepEqual(shown('String'), [...equality, ...membership, ...patterns])
  assert.deepEqual(shown('Boolean'), [...equality, ...membership])
  const log = schema.getType('Ethereum__Mainnet__Log')
  assert.ok(isObjectType(log))
  assert.equal(
    log.getFields()['_count']?.deprecationReason,
    'Another spelling of COUNT; both are accepted.',
  )
  assert.equal(
    log.getFields()['_blockID']?.deprecationReason,
    'Another spelling of block_id; both are accepted.',
  )
})

/** The schema with a View, of which only the rows are known. */
function schemaWith(sdl: string): { served: GraphQLSchema; votes: Entity } {
  const fixed = createCatalog('Ethereum__Mainnet', hostCollections)
  const entity = viewEntity(servedView(sdl), null)
  const votes = viewAttestation(entity.view ?? assert.fail())
  return {
    served: createSchema(new Map([...fixed, [entity.name, entity], [votes.name, votes]])),
    votes,
  }
}

test('lists and JSON of a View are neither ordered by nor added up, but compared', () => {
  const { served } = schemaWith('type Seen { n: Int tags: [Int] more: JSON parts: [JSON] }')
  const [order, filter] = ['SeenOrderArg', 'SeenFilterArg'].map((name) => {
    const type = served.getType(name)
    assert.ok(isInputObjectType(type))
    return type.getFields()
  })
  const ordered = ['_alias', '_docID', 'n', '_blockNumber', '_attestations', '_hosts']
  assert.deepEqual(Object.keys(order ?? {}), ordered)
  assert.deepEqual(
    ['tags', 'more', 'parts'].map((name) => String(filter?.[name]?.type)),
    ['IntListOperatorBlock', 'JSONOperatorBlock', 'JSONOperatorBlock'],
  )
  const numbers = served.getType('SeenNumericFieldsArg')
  assert.ok(isEnumType(numbers))
  const names = numbers.getValues().map(({ name }) => name)
  assert.deepEqual(names.slice(0, 5), ['n', '_blockNumber', '_attestations', '_hosts', 'COUNT'])
  for (const name of ['Seen__Field', 'AttestationRecord_Seen__Field'])
    assert.ok(isEnumType(served.getType(name)), `${name}, which is the name of no View`)
})

test('a View has one name, and is subscribed to, but not what Hosts signed of it', () => {
  const { served, votes } = schemaWith('"Seen." type Seen { n: Int }')
  const [asked = {}, streamed = {}] = [served.getQueryType(), served.getSubscriptionType()].map(
    (type) => type?.getFields(),
  )
  assert.equal(asked['Seen']?.description, 'Seen.')
  assert.match(asked['Block']?.description ?? '', / Short for Ethereum__Mainnet__Block\.$/)
  assert.ok(asked[votes.name] && streamed['Seen'] && streamed['Block'])
  assert.equal(streamed[votes.name], undefined)
  const seen = served.getType('Seen')
  assert.ok(isObjectType(seen))
  assert.match(seen.getFields()['_source']?.description ?? '', /^Null: /)
})

test('numbers are added up of lists alone, and nothing is where nothing is served', () => {
  const targetsOf = (name: string): string[] => {
    const type = schema.getType(`Ethereum__Mainnet__${name}`)
    assert.ok(isObjectType(type))
    return (type.getFields()['SUM']?.args ?? []).map((argument) => argument.name)
  }
  assert.deepEqual(targetsOf('Log'), ['GROUP', '_group'])
  assert.deepEqual(targetsOf('Transaction'), ['GROUP', '_group', 'logs', 'accessList'])
  const nothing = createSchema(new Map()).getQueryType()?.getFields() ?? {}
  assert.deepEqual(Object.keys(nothing), ['_commits'])
})

test('variables may be declared with full or short type names, or with the type of their values', async (t) => {
  const { query } = await openGraphqlRoom(t)
  const text = `query($f: BlockFilterArg, $g: Ethereum__Mainnet__BlockFilterArg!, $o: [BlockOrderArg], $b: IntOperatorBlock, $k: [BlockField!], $id: String!, $s: StringOperatorBlock) {
    a: Block(filter: $f, order: $o) { number } b: Block(filter: {_and: [$g, {number: $b}]}) { number }
    c: Block(groupBy: $k) { miner } d: Block(docID: $id) { number } e: Block(filter: {_docID: {_eq: $id}}) { number }
    f: COUNT(Transaction: {filter: {value: $s}}) }`
  const data = await query(text, {
    f: { number: { _ge: 5 } },
    g: { number: 4, hash: { _like: '0x%' } },
    o: { number: 'DESC' },
    b: { _in: [3, 4] },
    k: 'miner',
    id: 'x',
    s: { _like: '0x0' },
  })
  assert.deepEqual(data.a, [{ number: 6 }, { number: 5 }])
  assert.deepEqual(data.b, [{ number: 4 }])
  assert.deepEqual([data.d, data.e], [[], []])
})

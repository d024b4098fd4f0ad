/**
 * The object type of one entity: its values, its links, its aggregates, and the arguments of lists.
 */
import {
  GraphQLBoolean,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLFloat,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql'
import type { Attribute, Entity } from '../catalog/entity.ts'
import {
  type Fold,
  foldSpellings,
  folds,
  groupField,
  groupFieldOther,
  otherSpelling,
} from '../catalog/spelling.ts'
import type { EntityInputs, InputsOf } from './schema-inputs.ts'
import { scalarOf } from './schema-operators.ts'
import { formatEnum, intScalar, jsonScalar } from './schema-scalars.ts'

/** Finds an entity's object type once all are made. */
export type ObjectOf = (name: string) => GraphQLObjectType

type Fields = GraphQLFieldConfigMap<unknown, unknown>
type Arguments = GraphQLFieldConfigArgumentMap

const signatureType = new GraphQLObjectType({
  name: 'Signature',
  description: 'A Generator’s signature.',
  fields: {
    type: { type: GraphQLString, description: '`ES256K` or `Ed25519`.' },
    identity: { type: GraphQLString, description: 'The public key in hex.' },
    value: { type: GraphQLString, description: 'The signature in hex.' },
  },
})

const commitLinkType = new GraphQLObjectType({
  name: 'CommitLink',
  description: 'A link between versions; there are none, as each document has one version.',
  fields: {
    name: { type: GraphQLString, description: 'Name of the link.' },
    linkName: { type: GraphQLString, description: 'The same.' },
    cid: { type: GraphQLString, description: 'Content identifier of the version it leads to.' },
  },
})

/** The one version that a document has: documents do not change. */
export const commitType: GraphQLObjectType = new GraphQLObjectType({
  name: 'Commit',
  description: 'The one version of a document; documents never change.',
  fields: {
    cid: { type: GraphQLString, description: 'The content identifier of the document’s bytes.' },
    docID: { type: GraphQLString, description: 'The `_docID` of the document.' },
    height: { type: intScalar, description: 'Always 1.' },
    fieldName: { type: GraphQLString, description: 'Always `_C`: the whole document.' },
    collectionVersionId: { type: GraphQLString, description: 'The form of the bytes.' },
    schemaVersionId: {
      type: GraphQLString,
      description: 'The form of the bytes.',
      deprecationReason: otherSpelling('collectionVersionId'),
    },
    delta: {
      type: GraphQLString,
      description: 'The canonical bytes that the CID hashes, in base64.',
    },
    links: { type: new GraphQLList(commitLinkType), description: 'Always empty.' },
    heads: { type: new GraphQLList(commitLinkType), description: 'Always empty.' },
    signature: { type: signatureType, description: 'The first signature over the block’s root.' },
  },
})

const limit = { type: intScalar, description: 'At most so many; 0 means no limit.' }
const offset = { type: intScalar, description: 'Leaves out so many at the start.' }

/** The arguments of `_commits`; what differs between versions has no effect, as there is one of each document. */
export const commitsArguments: GraphQLFieldConfigArgumentMap = {
  cid: {
    type: new GraphQLList(new GraphQLNonNull(GraphQLID)),
    description: 'Only versions with these content identifiers.',
  },
  docID: {
    type: new GraphQLList(new GraphQLNonNull(GraphQLID)),
    description: 'Only versions of these documents.',
  },
  fieldName: { type: GraphQLString, description: 'Accepted: `_C`, the whole document.' },
  depth: { type: intScalar, description: 'Accepted; versions have no ancestors.' },
  limit,
  offset,
}

const provenBlockType = new GraphQLObjectType({
  name: 'ProvenBlock',
  description: 'The block that a proof is about.',
  fields: {
    number: { type: intScalar, description: 'Its height.' },
    hash: { type: GraphQLString, description: 'Its hash, 0x hex.' },
  },
})

/** What `src/verify` needs to check a document without trusting the server. */
const proofType: GraphQLObjectType = new GraphQLObjectType({
  name: 'InclusionProof',
  description:
    'Shows that Generators signed the document: its CID is under a Merkle root (RFC 9162, SHA-256) that they sealed.',
  fields: {
    network: { type: GraphQLString, description: 'The network, as in `Ethereum__Mainnet`.' },
    cid: { type: GraphQLString, description: 'The leaf; null for a seal, which is none.' },
    index: {
      type: intScalar,
      description: 'Place of the leaf among the CIDs in byte order; null for a seal.',
    },
    count: { type: intScalar, description: 'Number of leaves.' },
    path: {
      type: new GraphQLList(GraphQLString),
      description: 'Hashes from the leaf’s sibling up, hex without 0x.',
    },
    root: { type: GraphQLString, description: 'The Merkle root, hex without 0x.' },
    block: { type: provenBlockType, description: 'The block that is sealed.' },
    seals: {
      type: new GraphQLList(signatureType),
      description:
        'The signatures over exactly this block hash and root; for a seal, its own alone.',
    },
  },
})

const versionSelector = new GraphQLInputObjectType({
  name: 'Commit__CountSelector',
  fields: { limit, offset },
})

/** The arguments of a list of an entity, wherever it stands. */
function listArguments(inputs: EntityInputs): Arguments {
  return {
    docID: {
      type: new GraphQLList(new GraphQLNonNull(GraphQLID)),
      description: 'Only these documents.',
    },
    filter: { type: inputs.filter, description: 'Only documents for which all of it holds.' },
    groupBy: {
      type: new GraphQLList(new GraphQLNonNull(inputs.field)),
      description: 'One row for each set of values that these fields have, members in `_group`.',
    },
    limit,
    offset,
    order: { type: new GraphQLList(inputs.order), description: 'By default in chain order.' },
  }
}

/** The arguments of a collection field. */
export function collectionArguments({ view }: Entity, inputs: EntityInputs): Arguments {
  const cid = {
    type: GraphQLString,
    description: 'Only the document with this content identifier.',
  }
  return {
    ...(view === undefined ? { cid } : {}),
    ...listArguments(inputs),
    showDeleted: { type: GraphQLBoolean, description: 'Accepted; documents are never deleted.' },
  }
}

/** Makes the object type of an entity. */
export function createObject(
  entity: Entity,
  inputsOf: InputsOf,
  objectOf: ObjectOf,
): GraphQLObjectType {
  return new GraphQLObjectType({
    name: entity.typeName,
    description: entity.description,
    fields: () => ({
      ...attributeFields(entity),
      ...linkFields(entity, inputsOf, objectOf),
      ...systemFields(entity),
      ...groupFields(inputsOf(entity.name), objectOf(entity.name)),
      ...aggregateFields(entity, inputsOf),
    }),
  })
}

function attributeFields(entity: Entity): Fields {
  const fields: Fields = {}
  for (const attribute of entity.attributes.values()) {
    const { name, alias } = attribute
    const field = attributeField(attribute)
    fields[name] = field
    if (alias !== undefined) fields[alias] = { ...field, deprecationReason: otherSpelling(name) }
  }
  return fields
}

const format = { type: formatEnum, description: 'How the value is written; 0x hex by default.' }

function attributeField({ kind, list, description }: Attribute): Fields[string] {
  const scalar = scalarOf(kind)
  const type = list ? new GraphQLList(scalar) : scalar
  const isFormatted = kind === 'quantity' || kind === 'address'
  return { type, description, ...(isFormatted ? { args: { format } } : {}) }
}

function linkFields(entity: Entity, inputsOf: InputsOf, objectOf: ObjectOf): Fields {
  const fields: Fields = {}
  for (const link of entity.links.values()) {
    const target = objectOf(link.target)
    const inputs = inputsOf(link.target)
    const { description } = link
    fields[link.field] = link.many
      ? { type: new GraphQLList(target), args: listArguments(inputs), description }
      : { type: target, args: { filter: singleFilter(inputs) }, description }
  }
  return fields
}

const singleFilter = ({ filter }: EntityInputs): Arguments[string] => ({
  type: filter,
  description: 'Answers null unless it holds.',
})

function systemFields(entity: Entity): Fields {
  const fields: Fields = {
    _deleted: { type: GraphQLBoolean, description: 'Always false.' },
  }
  if (entity.view !== undefined) {
    const isKnown = entity.view.selection !== null
    fields['_source'] = {
      type: jsonScalar,
      description: isKnown
        ? 'The last document that the first lens was given before it made the row.'
        : 'Null: here are the rows of the View alone, without the documents that they were made of.',
    }
  }
  if (entity.section !== null) {
    fields['_version'] = {
      type: new GraphQLList(commitType),
      description: 'The one version of the document, with its CID and the signature over it.',
    }
  }
  if (entity.section !== null || entity.name === 'BlockSignature') {
    fields['_proof'] = {
      type: proofType,
      description: 'What it takes to check the document without trusting whoever answers it.',
    }
  }
  return fields
}

function groupFields(inputs: EntityInputs, object: GraphQLObjectType): Fields {
  const field = {
    type: new GraphQLList(object),
    args: listArguments(inputs),
    description: 'The members of a group; only with `groupBy`.',
  }
  return {
    [groupField]: field,
    [groupFieldOther]: { ...field, deprecationReason: otherSpelling(groupField) },
  }
}

function aggregateFields(entity: Entity, inputsOf: InputsOf): Fields {
  const count = countTargets(entity, inputsOf)
  const numeric = numericTargets(entity, inputsOf)
  return foldFields((fold) => (fold === 'COUNT' ? count : numeric))
}

const foldDescriptions: Readonly<Record<Fold, string>> = {
  COUNT: 'How many there are.',
  SUM: 'Sum of a field; values that are null are left out.',
  AVG: 'Mean of a field; values that are null are left out.',
  MIN: 'Least value of a field; null where there is none.',
  MAX: 'Greatest value of a field; null where there is none.',
}

/** Every aggregate in both spellings, with the arguments that name what is aggregated. */
export function foldFields(targets: (fold: Fold) => Arguments): Fields {
  const fields: Fields = {}
  for (const fold of folds) {
    const type = fold === 'COUNT' ? intScalar : GraphQLFloat
    const args = targets(fold)
    if (Object.keys(args).length === 0) continue
    const field = { type, args, description: foldDescriptions[fold] }
    fields[fold] = field
    fields[foldSpellings[fold]] = { ...field, deprecationReason: otherSpelling(fold) }
  }
  return fields
}

function groupTargets(selector: GraphQLInputObjectType): Arguments {
  return {
    [groupField]: { type: selector },
    [groupFieldOther]: { type: selector, deprecationReason: otherSpelling(groupField) },
  }
}

function countTargets(entity: Entity, inputsOf: InputsOf): Arguments {
  const inputs = inputsOf(entity.name)
  const targets: Arguments = groupTargets(inputs.countSelector)
  for (const link of entity.links.values()) {
    if (link.many) targets[link.field] = { type: inputsOf(link.target).countSelector }
  }
  for (const [name, type] of inputs.listSelectors) targets[name] = { type }
  if (entity.section !== null) targets['_version'] = { type: versionSelector }
  return targets
}

function numericTargets(entity: Entity, inputsOf: InputsOf): Arguments {
  const targets: Arguments = groupTargets(inputsOf(entity.name).numericSelector)
  for (const link of entity.links.values()) {
    if (link.many) targets[link.field] = { type: inputsOf(link.target).numericSelector }
  }
  return targets
}

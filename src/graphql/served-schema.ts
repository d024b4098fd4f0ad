/**
 * What can be queried now: the collections of the program and the Views that it serves, which come and go. What
 * is the same before and after a change stays the same object, so that its plans stay compiled.
 */
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  Kind,
  OperationTypeNode,
} from 'graphql'
import { invariant } from '../errors.ts'
import { createCatalog } from './catalog/catalog.ts'
import type { Catalog, Entity, EntityName } from './catalog/entity.ts'
import { viewAttestation } from './catalog/view-attestation.ts'
import { type ServedView, viewEntity } from './catalog/view-entity.ts'
import { rewriteDocument } from './plan/rewrite.ts'
import { createSchemaBuilder, entitiesByName } from './schema/schema.ts'

/** One state of what is served; a request keeps the one that it began with. */
export interface ServedSchema {
  readonly catalog: Catalog
  readonly schema: GraphQLSchema
  /** By all names that a root field may have. */
  readonly entities: ReadonlyMap<string, Entity>
}

/** What is served. */
export interface SchemaKeeper {
  now(): ServedSchema
  /**
   * Serves these Views, and no others. At once, or where the schema was built within the last half second, when
   * that has passed.
   */
  setViews(views: readonly ServedView[]): void
  /** Those that are served now, with the fields of their own. */
  views(): readonly { readonly name: string; readonly fields: readonly string[] }[]
}

interface SchemaOptions {
  readonly network: string
  readonly collections: readonly EntityName[]
  /** Called after a change with the names of Views that came, changed or went. */
  readonly onChange: (names: ReadonlySet<string>) => void
}

/** Between two schemas: building one takes milliseconds in which nothing else runs. */
const minBuildMs = 500

/** Serves the collections, and no View yet. */
export function createSchemaKeeper({
  network,
  collections,
  onChange,
}: SchemaOptions): SchemaKeeper {
  const fixed = createCatalog(network, collections)
  const build = createSchemaBuilder()
  const toServed = (catalog: Catalog): ServedSchema => ({
    catalog,
    schema: build(catalog),
    entities: entitiesByName(catalog),
  })
  const known = new WeakMap<ServedView['rowType'], readonly Entity[]>()
  let now = toServed(fixed)
  let wanted: readonly ServedView[] = []
  let views: readonly ServedView[] = []
  let builtAt = -Infinity
  let timer: NodeJS.Timeout | undefined

  /** A View, and its votes where its rows are stored. */
  const entitiesOf = (view: ServedView): readonly Entity[] => {
    const before = known.get(view.rowType)
    const entities = before !== undefined && isSame(before, view) ? before : createEntities(view)
    known.set(view.rowType, entities)
    return entities
  }
  const createEntities = (view: ServedView): readonly Entity[] => {
    const entity = viewEntity(view, plainSelection(view))
    const source = entity.view
    return source === undefined || source.stream !== null
      ? [entity]
      : [entity, viewAttestation(source)]
  }
  const plainSelection = ({ query }: ServedView): FieldNode | null =>
    query === null ? null : toPlain(query.selection, now.schema, network)
  const change = (): void => {
    timer = undefined
    views = wanted
    const entities = wanted.flatMap(entitiesOf).map((entity) => [entity.name, entity] as const)
    const before = now.catalog
    const catalog: Catalog = new Map([...fixed, ...entities])
    const names = new Set([...before.keys(), ...catalog.keys()])
    const changed = [...names].filter((name) => before.get(name) !== catalog.get(name))
    if (changed.length === 0) return
    builtAt = performance.now()
    now = toServed(catalog)
    onChange(new Set(changed))
  }
  return {
    now: () => now,
    views: () =>
      views.map(({ name, rowType }) => ({ name, fields: rowType.fields.map((one) => one.name) })),
    setViews(next) {
      wanted = next
      if (timer !== undefined) return
      const waitMs = builtAt + minBuildMs - performance.now()
      if (waitMs <= 0) change()
      else timer = setTimeout(change, waitMs).unref()
    },
  }
}

/** Whether entities are those of a View as it is served now. */
function isSame([entity]: readonly Entity[], { name, slot, query }: ServedView): boolean {
  const source = entity?.view
  if (entity?.name !== name || source?.slot !== slot) return false
  return (source.selection === null) === (query === null)
}

/** A field of Query as plain GraphQL, which compiles under every schema that has the collections. */
function toPlain(selection: FieldNode, schema: GraphQLSchema, network: string): FieldNode {
  const document: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: [
      {
        kind: Kind.OPERATION_DEFINITION,
        operation: OperationTypeNode.QUERY,
        selectionSet: { kind: Kind.SELECTION_SET, selections: [selection] },
      },
    ],
  }
  const [operation] = rewriteDocument(document, schema, network).definitions
  invariant(operation?.kind === Kind.OPERATION_DEFINITION, 'an operation stays one')
  const [field] = operation.selectionSet.selections
  invariant(field?.kind === Kind.FIELD, 'a field stays one')
  return field
}

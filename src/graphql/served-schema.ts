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
  /** Called once for a View with which no schema can be built beside those before it: it is not served. */
  readonly onLeftOut: (view: ServedView, error: unknown) => void
}

/** Between two schemas: building one takes milliseconds in which nothing else runs. */
const minBuildMs = 500

/** Serves the collections, and no View yet. */
export function createSchemaKeeper({
  network,
  collections,
  onChange,
  onLeftOut,
}: SchemaOptions): SchemaKeeper {
  const fixed = createCatalog(network, collections)
  const build = createSchemaBuilder()
  const toServed = (catalog: Catalog): ServedSchema => ({
    catalog,
    schema: build(catalog),
    entities: entitiesByName(catalog),
  })
  const known = new WeakMap<ServedView['rowType'], readonly Entity[]>()
  const leftOut = new WeakSet<ServedView['rowType']>()
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
  /** What is served with these Views; as it is now where nothing changes. */
  const servedWith = (some: readonly ServedView[]): ServedSchema => {
    const entities = some.flatMap(entitiesOf).map((entity) => [entity.name, entity] as const)
    const catalog: Catalog = new Map([...fixed, ...entities])
    return changedNames(now.catalog, catalog).size === 0 ? now : toServed(catalog)
  }
  const change = (): void => {
    timer = undefined
    const next = withoutFailing(wanted, servedWith, (view, error) => {
      if (!leftOut.has(view.rowType)) onLeftOut(view, error)
      leftOut.add(view.rowType)
    })
    views = next.views
    if (next.served === now) return
    builtAt = performance.now()
    const changed = changedNames(now.catalog, next.served.catalog)
    now = next.served
    onChange(changed)
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

function changedNames(before: Catalog, after: Catalog): ReadonlySet<string> {
  const names = [...before.keys(), ...after.keys()]
  return new Set(names.filter((name) => before.get(name) !== after.get(name)))
}

/**
 * What is served with as many of the Views as go together, in their order. Each was checked before it came; whatever that
 * missed costs the View that came last, and no program.
 */
function withoutFailing(
  wanted: readonly ServedView[],
  servedWith: (some: readonly ServedView[]) => ServedSchema,
  onFailing: (view: ServedView, error: unknown) => void,
): { readonly served: ServedSchema; readonly views: readonly ServedView[] } {
  let views = wanted
  for (;;) {
    try {
      return { served: servedWith(views), views }
    } catch (error) {
      const failing = firstFailing(views, servedWith)
      if (failing === undefined) throw error
      onFailing(failing, error)
      views = views.filter((view) => view !== failing)
    }
  }
}

/** The first View that cannot be served beside those before it, by halves. */
function firstFailing(
  views: readonly ServedView[],
  servedWith: (some: readonly ServedView[]) => ServedSchema,
): ServedView | undefined {
  let [good, bad] = [0, views.length]
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1
    try {
      servedWith(views.slice(0, middle))
      good = middle
    } catch {
      bad = middle
    }
  }
  return views[bad - 1]
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

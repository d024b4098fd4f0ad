/**
 * The Views that an application follows. What their rows look like is said by Hosts, and believed once as many accepted
 * ones as the application asks for say the same; it is kept with the slot and the name that a View got then.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '../errors.ts'
import type { ServedView } from '../graphql/catalog/view-entity.ts'
import { createViewSchemaCheck } from '../graphql/schema/view-schema-check.ts'
import { createInTurn } from '../primitives/in-turn.ts'
import { encodeJsonRecord, readJsonRecord } from '../store/json-record.ts'
import type { StoreWriter } from '../store/store.ts'
import { servedNames } from '../views/names/served-names.ts'
import { parseRowType, type RowType } from '../views/rows/row-type.ts'

/** A View whose rows can be read. */
export interface KnownView {
  /** Its long ID. */
  readonly id: string
  readonly sdl: string
  readonly rowType: RowType
  /** Where its rows are in the store. */
  readonly slot: number
  /** In GraphQL. */
  readonly name: string
}

export interface FollowedViews {
  readonly ids: readonly string[]
  find(id: string): KnownView | undefined
  list(): readonly KnownView[]
  /**
   * An accepted Host says what a View is. Resolves once that is stored, where it is believed now.
   * @throws ServiceError `VIEWS_SDL_INVALID` for what no View can be, which then counts for nothing.
   */
  hear(host: string, id: string, sdl: string): Promise<void>
}

interface ViewsOptions {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Long IDs, each once. */
  readonly ids: readonly string[]
  readonly minimumHosts: number
}

interface ViewsParts {
  readonly log: Logger
  readonly store: Pick<StoreWriter, 'putRecord' | 'clearView' | 'reader'>
  /** Serves these in GraphQL. */
  readonly onChange: (views: readonly ServedView[]) => void
}

/** As it is stored. */
type StoredView = Pick<KnownView, 'id' | 'sdl' | 'slot' | 'name'>

interface StoredViews {
  readonly views: readonly StoredView[]
  /** Slots whose rows are being removed. */
  readonly removed: readonly number[]
  /** The next slot; none is given twice. */
  readonly next: number
}

const recordName = 'app/views'

/**
 * Begins with those that were known; rows of Views that are followed no more are removed. So are those of Views that cannot
 * be served as they were believed: they are unknown until Hosts describe them otherwise.
 */
export async function openFollowedViews(
  { network, ids, minimumHosts }: ViewsOptions,
  { log, store, onChange }: ViewsParts,
): Promise<FollowedViews> {
  const inTurn = createInTurn()
  const checkSchema = createViewSchemaCheck(network)
  const said = new Map<string, Map<string, Set<string>>>()
  let stored = readStored(store)
  let known: ReadonlyMap<string, KnownView> = new Map()
  const change = async (next: StoredViews): Promise<void> => {
    await store.putRecord(recordName, encodeJsonRecord(next))
    stored = next
    known = new Map(
      next.views.map((view) => {
        // The same object while the View is the same, by which its queries stay compiled.
        const { rowType = parseRowType(view.sdl) } = known.get(view.id) ?? {}
        return [view.id, { ...view, rowType }]
      }),
    )
    onChange([...known.values()].map((view) => ({ ...view, query: null })))
  }

  const isServable = ({ id, name, sdl }: StoredView): boolean => {
    try {
      checkSchema(parseRowType(sdl))
      return true
    } catch (err) {
      if (!(err instanceof ServiceError)) throw err
      log.warn(
        { err, id, view: name },
        'a View cannot be served any more, and its rows are removed',
      )
      return false
    }
  }
  const views = stored.views.filter((view) => ids.includes(view.id) && isServable(view))
  const left = stored.views.filter((view) => !views.includes(view)).map(({ slot }) => slot)
  const removed = [...stored.removed, ...left]
  await change({ ...stored, views, removed })
  for (const slot of removed) await store.clearView(slot)
  if (removed.length > 0) await change({ ...stored, removed: [] })

  const believe = async (id: string, sdl: string): Promise<void> => {
    if (known.has(id)) return
    const { name: typeName } = parseRowType(sdl)
    const named = [...known.values()].map((view) => ({
      id: view.id,
      typeName: view.rowType.name,
      registeredAt: null,
    }))
    const pinned = new Map([...known.values()].map((view) => [view.id, view.name]))
    const names = servedNames([...named, { id, typeName, registeredAt: null }], pinned)
    const view = { id, sdl, slot: stored.next, name: names.get(id) ?? typeName }
    await change({ ...stored, views: [...stored.views, view], next: stored.next + 1 })
  }

  return {
    ids,
    find: (id) => known.get(id),
    list: () => [...known.values()],
    hear: async (host, id, sdl) => {
      if (known.has(id) || !ids.includes(id)) return
      if (!said.get(id)?.has(sdl)) {
        // A Host describes many Views at once, and each check takes milliseconds.
        await nextTurn()
        checkSchema(parseRowType(sdl))
      }
      const bySdl = said.get(id) ?? new Map<string, Set<string>>()
      said.set(id, bySdl)
      for (const [said, hosts] of bySdl)
        if (hosts.delete(host) && hosts.size === 0) bySdl.delete(said)
      const hosts = bySdl.get(sdl) ?? new Set()
      bySdl.set(sdl, hosts.add(host))
      if (hosts.size >= minimumHosts) await inTurn(() => believe(id, sdl))
    },
  }
}

function readStored(store: ViewsParts['store']): StoredViews {
  const kept = store.reader.read((snapshot) => readJsonRecord<StoredViews>(snapshot, recordName))
  return kept ?? { views: [], removed: [], next: 0 }
}

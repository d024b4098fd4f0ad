/**
 * What a View reads: its query, compiled against the real schema of a chain, and run over stored blocks.
 * Works on any thread and in any process that reads the store; needs no engine.
 */
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  OperationTypeNode,
} from 'graphql'
import { invariant, ServiceError } from '../../errors.ts'
import { type ByteWriter, createByteWriter } from '../../primitives/cbor.ts'
import type { HeightRanges } from '../../primitives/height-ranges.ts'
import type { Snapshot } from '../../store/store.ts'
import type { ViewQuery } from '../../views/view-query.ts'
import type { QueryLimits } from '../budget/limits.ts'
import { createMemoryPool, type MemoryAccount } from '../budget/memory-pool.ts'
import {
  createQueryBudget,
  createQueryScheduler,
  type QueryBudget,
} from '../budget/query-budget.ts'
import { createCatalog, hostCollections } from '../catalog/catalog.ts'
import type { Catalog, Entity } from '../catalog/entity.ts'
import { withAttestedDocs } from '../execute/attested-doc.ts'
import { groupRequest, rootGroups } from '../execute/group.ts'
import { readArguments, renderGroups, writeRows } from '../execute/render-rows.ts'
import { rowRequest } from '../execute/row-request.ts'
import { type Run, scanOf } from '../execute/run.ts'
import { compilePlan } from '../plan/compile.ts'
import type { ListPlan } from '../plan/plan.ts'
import { rewriteDocument } from '../plan/rewrite.ts'
import { checkFields } from '../plan/syntax.ts'
import { validateDocument } from '../plan/validation.ts'
import { createCidCache } from '../rows/block-cids.ts'
import { createOpenedViews } from '../rows/opened-views.ts'
import { type Hint, hintOf } from '../scan/index-hint.ts'
import { selectRows } from '../scan/select-rows.ts'
import { createSchema, entitiesByName } from '../schema/schema.ts'
import { asQueryError, queryError } from './query-error.ts'

/** Compiles the queries of Views for one chain. */
export interface ViewSelector {
  /** @throws ServiceError `VIEWS_QUERY_INVALID` with the place and what is accepted there. */
  compile(query: ViewQuery): ViewSelection
}

/** A compiled query. */
export interface ViewSelection {
  /** What the index of a block has to hold for the query to select any document of it. */
  readonly hint: Hint
  /**
   * The documents that the query selects of the stored blocks from `from` to `to`, both included, in its
   * order, in batches. Filters, orders, limits and groups of the query apply to all these blocks together.
   * The snapshot must not be released before the last batch.
   * @throws ServiceError `VIEWS_SELECTION_TOO_LARGE` beyond the limits.
   */
  documents(
    snapshot: Snapshot,
    heights: { readonly from: number; readonly to: number },
    options?: SelectionOptions,
  ): AsyncGenerator<readonly SelectedDocument[]>
  /** The same for any set of heights. */
  documentsOver(
    snapshot: Snapshot,
    heights: HeightRanges,
    options?: SelectionOptions,
  ): AsyncGenerator<readonly SelectedDocument[]>
}

/** One document as a lens gets it. */
export interface SelectedDocument {
  /** Of the block it is in; null for a group, whose members may be in several. */
  readonly height: number | null
  /** Compact JSON as UTF-8: the selected fields in the order of the query under their aliases, absent ones null. */
  readonly json: Uint8Array
}

/** How much may be selected at once. */
export interface SelectionOptions {
  /** By default those of a materialised View for one block, which are the same at every Host. */
  readonly limits?: QueryLimits
  readonly signal?: AbortSignal
  /** Where documents are written, behind what stands there already. By default a place of its own for each batch. */
  readonly out?: ByteWriter
}

/**
 * What a View may select of one block. Part of the runtime version: another limit makes other rows, so that it
 * follows from no setting, no clock and none of the limits that requests start from.
 */
export const blockLimits: QueryLimits = {
  maxDepth: 15,
  maxConditions: 2_000,
  maxCost: 4_000_000,
  maxRows: 1_000_000,
  maxResultBytes: 64 * 1024 * 1024,
  maxMs: Infinity,
  maxHeldBytes: 256 * 1024 * 1024,
}

/** The selector of a chain, as in `Ethereum__Mainnet`. Making one takes a few milliseconds: keep it. */
export function createViewSelector(network: string): ViewSelector {
  const catalog = createCatalog(network, hostCollections)
  const chain: Chain = {
    network,
    catalog,
    schema: createSchema(catalog),
    entities: entitiesByName(catalog),
    cids: createCidCache(),
    scheduler: createQueryScheduler(),
  }
  return { compile: (query) => compile(chain, query) }
}

interface Chain {
  readonly network: string
  readonly catalog: Catalog
  readonly schema: GraphQLSchema
  readonly entities: ReadonlyMap<string, Entity>
  readonly cids: Run['session']['cids']
  readonly scheduler: ReturnType<typeof createQueryScheduler>
}

// --- Compiling ------------------------------------------------------------------------------

function compile(chain: Chain, query: ViewQuery): ViewSelection {
  const written = documentOf(query)
  const list = compileList(chain, written)
  return {
    hint: readHint(chain, written, list),
    documents: (snapshot, { from, to }, options) =>
      documentsOf({ chain, list, snapshot, window: [[from, to]] }, options ?? {}),
    documentsOver: (snapshot, window, options) =>
      documentsOf({ chain, list, snapshot, window }, options ?? {}),
  }
}

function documentOf({ selection }: ViewQuery): DocumentNode {
  const selectionSet = { kind: Kind.SELECTION_SET, selections: [selection] } as const
  const operation = OperationTypeNode.QUERY
  return {
    kind: Kind.DOCUMENT,
    definitions: [{ kind: Kind.OPERATION_DEFINITION, operation, selectionSet }],
  }
}

function compileList(chain: Chain, written: DocumentNode): ListPlan {
  const { schema, network } = chain
  try {
    checkFields(written)
    const document = rewriteDocument(written, schema, network)
    const [error] = validateDocument(schema, document)
    if (error !== undefined) throw queryError(schema, document, error)
    const [operation] = document.definitions
    invariant(operation?.kind === Kind.OPERATION_DEFINITION, 'a View has one operation')
    const input = { operation, fragments: new Map(), shape: {}, omitted: new Set<string>() }
    const [field] = compilePlan({ ...chain, limits: blockLimits }, input).fields
    invariant(field?.type === 'list', 'a View reads a collection')
    return field.list
  } catch (error) {
    throw asQueryError(schema, written, error)
  }
}

/** Reads all arguments once, over no block: what only shows then is an error of the query as well. */
function readHint(chain: Chain, written: DocumentNode, list: ListPlan): Hint {
  const account = createMemoryPool(blockLimits).openAccount()
  const budget = createQueryBudget(blockLimits, { ...chain, account, signal: undefined })
  const run = runOf(chain, budget, unread, [])
  try {
    readArguments(run, list)
    const isList = list.type === 'rows'
    return isList ? hintOf(list.entity, rowRequest(run, list).condition) : { type: 'all' }
  } catch (error) {
    throw asQueryError(chain.schema, written, error)
  }
}

function unread(): never {
  throw new Error('broken invariant: arguments are read from no block')
}

// --- Running --------------------------------------------------------------------------------

interface Reading {
  readonly chain: Chain
  readonly list: ListPlan
  readonly snapshot: Snapshot
  readonly window: Run['window']
}

async function* documentsOf(
  { chain, list, snapshot, window }: Reading,
  { limits = blockLimits, signal, out }: SelectionOptions,
): AsyncGenerator<readonly SelectedDocument[]> {
  const account = createMemoryPool(limits).openAccount()
  const budget = createQueryBudget(limits, { ...chain, account, signal })
  const run = runOf(chain, budget, () => snapshot, window)
  try {
    signal?.throwIfAborted()
    for await (const batch of list.type === 'groups'
      ? groupBatch(run, list)
      : rowBatches(run, list, out)) {
      yield batch
      giveBack(account, batch)
    }
  } catch (error) {
    signal?.throwIfAborted()
    throw error instanceof GraphQLError ? tooLarge(error) : error
  }
}

type Batches = AsyncGenerator<readonly SelectedDocument[]>

async function* rowBatches(
  run: Run,
  list: Extract<ListPlan, { type: 'rows' }>,
  place: ByteWriter | undefined,
): Batches {
  const request = await withAttestedDocs(run, list.entity, rowRequest(run, list))
  for await (const rows of selectRows(scanOf(run, list.entity), request)) {
    run.session.budget.addRows(rows.length)
    const heights = rows.map(({ block }) => block.height)
    const out = place ?? createByteWriter()
    let start = out.at
    const ends = await writeRows(run, rows, list.selection, out)
    yield ends.map((end, index) => {
      const json = out.bytes.subarray(start, end)
      start = end
      return { height: heights[index] ?? null, json }
    })
  }
}

async function* groupBatch(run: Run, list: Extract<ListPlan, { type: 'groups' }>): Batches {
  const request = await withAttestedDocs(run, list.entity, groupRequest(run, list))
  const groups = await rootGroups(run, list, request, run.session.budget.openReservation())
  const texts = await renderGroups(run, groups, list.selection)
  yield texts.map((text) => ({ height: null, json: Buffer.from(text) }))
}

function runOf(
  { network, catalog, cids }: Chain,
  budget: QueryBudget,
  snapshot: () => Snapshot,
  window: Run['window'],
): Run {
  const opened = createOpenedViews(budget)
  const session = {
    network,
    budget,
    cids,
    opened,
    missing: null,
    attested: null,
    get snapshot() {
      return snapshot()
    },
  }
  return { session, catalog, variables: {}, window, known: [] }
}

/** What was handed over is no longer held here. */
function giveBack(account: MemoryAccount, batch: readonly SelectedDocument[]): void {
  account.release(batch.reduce((sum, { json }) => sum + json.length + 1, 0))
}

const tooLarge = (cause: GraphQLError): ServiceError =>
  new ServiceError('VIEWS_SELECTION_TOO_LARGE', cause.message, {
    cause,
    remedy: 'Select fewer fields, or narrow the query by a filter.',
  })

/**
 * Aggregates beside the collections: `COUNT(Block: {...})`, over one or several of them.
 */
import { invariant } from '../../errors.ts'
import { noAliases } from '../filter/filter.ts'
import { type Arguments, type ListRequest, toListRequest } from '../filter/list-request.ts'
import type { AggregateField, AggregateTarget } from '../plan/plan.ts'
import type { Row } from '../rows/row.ts'
import { countRows, selectRows, visitRows } from '../scan/select-rows.ts'
import { type Accumulator, addCount, addValue, createAccumulator, resultOf } from './accumulator.ts'
import { withAttestedDocs } from './attested-doc.ts'
import { selectorOf, valueReader } from './row-aggregate.ts'
import { coerceArguments, type Run, scanOf } from './run.ts'

/** The value of an aggregate over whole collections. */
export async function rootAggregate(run: Run, field: AggregateField): Promise<number | null> {
  const args = coerceArguments(run, field.source)
  const accumulator = createAccumulator(field.fold)
  for (const target of field.targets) {
    await addTarget(run, field, target, selectorOf(args, target), accumulator)
  }
  return resultOf(accumulator)
}

async function addTarget(
  run: Run,
  field: AggregateField,
  target: AggregateTarget,
  selector: Arguments,
  accumulator: Accumulator,
): Promise<void> {
  invariant(target.type === 'collection', `an operation has no aggregate over a ${target.type}`)
  const { entity } = target
  const written = toListRequest(run.catalog, entity, selector, noAliases, field.source.node)
  const request = await withAttestedDocs(run, entity, written)
  const reader = valueReader(run, field, entity, selector, [])
  const scan = scanOf(run, entity)
  if (reader === null) {
    addCount(accumulator, countWithin(await countRows(scan, request.condition), request))
  } else if (isWhole(request)) {
    const add = (row: Row): void => addValue(accumulator, reader.kind, reader.read(row))
    await visitRows(scan, request.condition, add, 1)
  } else {
    for await (const rows of selectRows(scan, request)) {
      for (const row of rows) addValue(accumulator, reader.kind, reader.read(row))
    }
  }
}

const isWhole = ({ offset, limit }: ListRequest): boolean => offset === 0 && limit === Infinity

function countWithin(count: number, { offset, limit }: ListRequest): number {
  return Math.min(limit, Math.max(0, count - offset))
}

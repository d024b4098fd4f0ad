/**
 * One execution of a plan: the variables of the request, and what follows from them once for each
 * place in the plan.
 */
import { getArgumentValues } from 'graphql'
import type { Session } from './block-view.ts'
import type { Catalog, Entity } from './entity.ts'
import type { Intervals } from './intervals.ts'
import type { Arguments } from './list-request.ts'
import type { AggregateField, ArgumentSource } from './plan.ts'
import type { Row } from './row.ts'
import type { Scan } from './walk.ts'

/** What a plan is run with. */
export interface Run {
  readonly session: Session
  readonly catalog: Catalog
  readonly variables: Readonly<Record<string, unknown>>
  /** The heights that count. */
  readonly window: Intervals
  /** Aggregates of rows, made ready for this request. */
  readonly aggregates: Map<AggregateField, RowAggregate>
}

/** An aggregate over what belongs to one row. */
export type RowAggregate = (row: Row) => number | null

const constants = new WeakMap<ArgumentSource, Arguments>()

/** The coerced arguments of a field. Throws GraphQLError when a variable's value does not fit. */
export function coerceArguments(run: Run, source: ArgumentSource): Arguments {
  const known = source.isConstant ? constants.get(source) : undefined
  if (known !== undefined) return known
  const args = getArgumentValues(source.field, source.node, run.variables)
  if (source.isConstant) constants.set(source, args)
  return args
}

/** A scan of an entity's rows. */
export function scanOf(run: Run, entity: Entity): Scan {
  return { session: run.session, entity, window: run.window }
}

/**
 * One execution of a plan: the variables of the request, and what follows from them once for each
 * place in the plan.
 */
import { getArgumentValues } from 'graphql'
import type { HeightRanges } from '../../primitives/height-ranges.ts'
import type { Catalog, Entity } from '../catalog/entity.ts'
import type { Arguments } from '../filter/list-request.ts'
import { type ArgumentSize, argumentSizeOf } from '../plan/argument-size.ts'
import type { ArgumentSource, ListPlan } from '../plan/plan.ts'
import type { Session } from '../rows/block-view.ts'
import type { Scan } from '../scan/piece.ts'

/** What a plan is run with. */
export interface Run {
  readonly session: Session
  readonly catalog: Catalog
  readonly variables: Readonly<Record<string, unknown>>
  /** The heights that count. */
  readonly window: HeightRanges
  readonly known: Known
}

/** What was worked out in a run, by the function that did and the part of the plan that it was for. */
type Known = Map<object, unknown>[]

let functions = 0

/** Makes a function that works something out once for each part of a plan in each run. */
export function oncePerRun<P extends object, T>(
  workOut: (run: Run, part: P) => T,
): (run: Run, part: P) => T {
  const own = functions++
  return (run, part) => {
    const parts = run.known[own] ?? new Map()
    run.known[own] = parts
    if (parts.has(part)) return parts.get(part) as T
    const made = workOut(run, part)
    parts.set(part, made)
    return made
  }
}

interface Coerced {
  readonly args: Arguments
  readonly size: ArgumentSize
}

const constants = new WeakMap<ArgumentSource, Coerced>()

/**
 * The coerced arguments of a field. Throws GraphQLError when a variable's value does not fit, and
 * where the arguments of all fields together hold too much.
 */
export const coerceArguments: (run: Run, source: ArgumentSource) => Arguments = oncePerRun(
  (run, source) => {
    const { args, size } =
      (source.isConstant ? constants.get(source) : undefined) ?? coerce(run, source)
    const { budget } = run.session
    budget.addConditions(size.conditions)
    budget.addValues(size.values)
    return args
  },
)

function coerce(run: Run, source: ArgumentSource): Coerced {
  const args = getArgumentValues(source.field, source.node, run.variables)
  const coerced = { args, size: argumentSizeOf(Object.values(args)) }
  if (source.isConstant) constants.set(source, coerced)
  return coerced
}

/** A scan of an entity's rows; `withSource` as in `Scan`. */
export function scanOf(run: Run, entity: Entity, withSource = false): Scan {
  return { session: run.session, entity, window: run.window, withSource }
}

/** Whether a list shows the documents that rows of a View were made of. */
export function readsSource(list: ListPlan): boolean {
  return list.type === 'rows'
    ? list.selection.fields.some(({ type }) => type === 'source')
    : list.selection.fields.some((field) => field.type === 'members' && readsSource(field.list))
}

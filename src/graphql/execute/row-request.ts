/** What a list of rows asks for, once for each place in the plan. */
import { findAttribute } from '../catalog/entity.ts'
import type { AliasScope } from '../filter/filter.ts'
import { type ListRequest, toListRequest } from '../filter/list-request.ts'
import type { RowField, RowListPlan, RowSelection } from '../plan/plan.ts'
import { rowAggregate } from './row-aggregate.ts'
import { coerceArguments, oncePerRun, type Run } from './run.ts'

/** What a list of rows asks for, with the variables of the request. */
export const rowRequest: (run: Run, list: RowListPlan) => ListRequest = oncePerRun(
  (run, { entity, source, selection }) => {
    const args = coerceArguments(run, source)
    return toListRequest(run.catalog, entity, args, aliasScope(run, selection), source.node)
  },
)

/** The aliases to which filters and orders of a selection can refer; names of values count as well. */
function aliasScope(run: Run, selection: RowSelection): AliasScope {
  return (alias) => {
    const field = selection.fields.find((one) => one.key === alias)
    const target = field === undefined ? undefined : targetOf(run, field)
    if (target !== undefined) return target
    const attribute = findAttribute(selection.entity, alias)
    return attribute === undefined ? undefined : { attribute }
  }
}

function targetOf(run: Run, field: RowField): ReturnType<AliasScope> {
  switch (field.type) {
    case 'value':
      return { attribute: field.attribute }
    case 'one':
    case 'many':
      return { link: field.link }
    case 'aggregate':
      return { computed: { kind: 'int', read: rowAggregate(run, field) } }
    default:
      return undefined
  }
}

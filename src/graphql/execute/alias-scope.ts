/**
 * What the aliases of a selection stand for, so that filters and orders can refer to them.
 */
import { findAttribute } from '../catalog/entity.ts'
import type { AliasScope } from '../filter/filter.ts'
import type { RowField, RowSelection } from '../plan/plan.ts'
import { rowAggregate } from './row-aggregate.ts'
import type { Run } from './run.ts'

/** The aliases of a selection of rows; names of values count as well. */
export function aliasScope(run: Run, selection: RowSelection): AliasScope {
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

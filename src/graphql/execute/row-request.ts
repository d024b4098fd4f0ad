/** What a list of rows asks for, once for each place in the plan. */
import { type ListRequest, toListRequest } from '../filter/list-request.ts'
import type { RowListPlan } from '../plan/plan.ts'
import { aliasScope } from './alias-scope.ts'
import { coerceArguments, oncePerRun, type Run } from './run.ts'

/** What a list of rows asks for, with the variables of the request. */
export const rowRequest: (run: Run, list: RowListPlan) => ListRequest = oncePerRun(
  (run, { entity, source, selection }) => {
    const args = coerceArguments(run, source)
    return toListRequest(run.catalog, entity, args, aliasScope(run, selection), source.node)
  },
)

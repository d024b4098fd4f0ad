/** Query, SDL and modules as they are typed in, checked as a Host checks them. */
import { ServiceError } from '../../errors.ts'
import { createViewSelector } from '../../graphql/selection/view-selection.ts'
import { networkOfQuery } from '../../views/query-network.ts'
import { parseRowType } from '../../views/rows/row-type.ts'
import { viewLimits } from '../../views/view.ts'
import { checkMaterializable, parseViewQuery } from '../../views/view-query.ts'
import { checkSize } from '../../views/wire-reader.ts'

/** @throws ServiceError `VIEWS_QUERY_INVALID` with the place and what is accepted there; `VIEWS_TOO_LARGE` */
export function checkQuery(text: string): void {
  checkSize('the query', Buffer.byteLength(text), viewLimits.query)
  compile(text)
}

/** @throws ServiceError `VIEWS_SDL_INVALID` with the place and what is accepted there; `VIEWS_TOO_LARGE` */
export function checkSdl(text: string): void {
  checkSize('the SDL', Buffer.byteLength(text), viewLimits.sdl)
  parseRowType(text)
}

/** @throws ServiceError `VIEWS_TOO_LARGE` */
export function checkLensCount(count: number): void {
  if (count <= viewLimits.lenses) return
  throw new ServiceError('VIEWS_TOO_LARGE', `a View has at most ${viewLimits.lenses} lenses`, {
    remedy: 'Remove one first, or give fewer.',
  })
}

/** What only shows where both are there. @throws ServiceError `VIEWS_QUERY_INVALID` */
export function checkTogether(query: string | null, sdl: string | null): void {
  if (query === null || sdl === null || !parseRowType(sdl).materialized) return
  checkMaterializable(compile(query))
}

function compile(text: string) {
  const network = networkOfQuery(text)
  const query = parseViewQuery(text, network)
  // Its own chain's prefix makes no query foreign.
  if ('foreign' in query) throw new Error(`broken invariant: ${query.foreign} is of ${network}`)
  createViewSelector(network).compile(query)
  return query
}

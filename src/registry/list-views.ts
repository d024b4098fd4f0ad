/** The whole list of Views, page by page, from an LCD that may lie, answer for ever or be too small for its own pages. */
import { ServiceError } from '../errors.ts'
import type { Lcd, ListPage } from './lcd.ts'

interface ListBounds {
  /** Views on a page at first. */
  readonly pageLimit: number
  /** Most pages that are asked for; what follows is not read. */
  readonly maxPages: number
}

/** Half a million Views: a few minutes, of which each page holds memory for itself alone. */
export const defaultListBounds: ListBounds = { pageLimit: 500, maxPages: 1_000 }

/**
 * The pages in the chain's order. A page that is too large for the chain is asked for by halves, at last one by one; the
 * next pages grow again.
 * @throws ServiceError what the LCD throws, and REGISTRY_LIST_ENDLESS where a page says to go on without getting
 *   further, or there are more pages than `maxPages`.
 */
export async function* listViews(
  lcd: Lcd,
  { pageLimit, maxPages }: ListBounds,
  signal: AbortSignal,
): AsyncGenerator<ListPage> {
  const begun = new Set<string>()
  let limit = pageLimit
  let key: string | null = null
  for (let asked = 0; asked < maxPages; asked += 1) {
    const page: ListPage | null = await pageOrNull(lcd, key, limit, signal)
    if (page === null) {
      limit = Math.floor(limit / 2)
      continue
    }
    yield page
    if (page.nextKey === null) return
    if (page.views.length === 0 || begun.has(page.nextKey)) throw endless('it does not get further')
    begun.add(page.nextKey)
    key = page.nextKey
    limit = Math.min(limit * 2, pageLimit)
  }
  throw endless(`it has more than ${maxPages} pages`)
}

/** Null where fewer at once may do. */
async function pageOrNull(
  lcd: Lcd,
  key: string | null,
  limit: number,
  signal: AbortSignal,
): Promise<ListPage | null> {
  try {
    return await lcd.page(key, limit, signal)
  } catch (error) {
    const isTooLarge = error instanceof ServiceError && error.code === 'REGISTRY_ANSWER_TOO_LARGE'
    if (isTooLarge && limit > 1) return null
    throw error
  }
}

function endless(why: string): ServiceError {
  return new ServiceError('REGISTRY_LIST_ENDLESS', `the list of Views does not end: ${why}`, {
    remedy: 'Ask another endpoint of the registry chain; what was read so far is used.',
  })
}

/** Where the Views are whose types are written: in files of SDL, in a project, or at a Host. */
import { ServiceError } from '../../errors.ts'
import { parseRowType } from '../../views/rows/row-type.ts'
import { viewLimits } from '../../views/view.ts'
import { checkSize } from '../../views/wire-reader.ts'
import type { TypedView } from './view-declarations.ts'

/** A place that has Views. */
export interface TypesSource {
  /** Absolute folders in which a change may change what is read. */
  folders(): Promise<readonly string[]>
  /** After how many milliseconds to ask again, where no folder shows changes; else null. */
  readonly pollMs: number | null
  /** @throws ServiceError with what is wrong, and where */
  read(): Promise<readonly TypedView[]>
}

/**
 * A View from its SDL. `where` is the file or the View that it is of; `name` is the one that it is served under, without it
 * that of its type.
 * @throws ServiceError `VIEWS_SDL_INVALID` with `where` and the place, `VIEWS_TOO_LARGE`
 */
export function toTypedView(where: string, sdl: string, name?: string): TypedView {
  try {
    checkSize('the SDL', Buffer.byteLength(sdl), viewLimits.sdl)
    const rowType = parseRowType(sdl)
    return { name: name ?? rowType.name, rowType }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, message, facts, remedy = '' } = error
    throw new ServiceError(code, `${where}: ${message}`, { facts, remedy, cause: error.cause })
  }
}

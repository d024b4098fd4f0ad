/** The Views that a Host has already, as far as they leave room for others. */
import type { HostViews } from '../views/views.ts'

export type ViewOfHost = ReturnType<HostViews['list']>[number]

/** Without those of other chains, which take no place. */
export function hostedOf(views: readonly ViewOfHost[]): ViewOfHost[] {
  return views.filter(({ state }) => state !== 'foreign')
}

export function countFields(views: readonly ViewOfHost[]): number {
  return views.reduce((sum, { fields }) => sum + fields, 0)
}

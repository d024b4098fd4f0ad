/** The lists of registered Views that are allowed and denied: those of the settings with those of their files. */
import type { Logger } from 'pino'
import { type LineFile, openLineFile } from '../../service/settings/line-file.ts'
import {
  createViewFilter,
  type FilteredView,
  type Standing,
  viewAllowEntry,
  viewFilterEntry,
} from './view-filter.ts'

export interface FilterSettings {
  readonly registryAllow: readonly string[]
  readonly registryAllowFile: string | null
  readonly registryDeny: readonly string[]
  readonly registryDenyFile: string | null
}

interface Filters {
  /** How a View stands in the lists of this moment. */
  standing(view: FilteredView): Standing
  /** Why the file of what is denied cannot be read; null where it can, or there is none. */
  denyProblem(): string | null
  /** Calls the listener after a file has changed. One listener. */
  onChange(listener: () => void): void
  close(): void
}

/** Reads the files, and again whenever they change. */
export async function openFilters(options: FilterSettings, log: Logger): Promise<Filters> {
  let onChange = (): void => undefined
  // The first file may change while the second is opened.
  let allow: LineFile<string> | null = null
  let deny: LineFile<string> | null = null
  const read = (): ReturnType<typeof createViewFilter> =>
    createViewFilter({
      allow: [...options.registryAllow, ...(allow?.values() ?? [])],
      deny: [...options.registryDeny, ...(deny?.values() ?? [])],
    })
  let standing = read()
  const open = async (
    path: string | null,
    setting: string,
    entry: typeof viewFilterEntry,
    isWhole: boolean,
  ): Promise<LineFile<string> | null> =>
    path === null
      ? null
      : await openLineFile(
          { path, setting, kind: entry, isWhole, mayBeEmpty: true },
          { log, onChange: changed },
        )
  const changed = (): void => {
    standing = read()
    onChange()
  }
  allow = await open(options.registryAllowFile, 'REGISTRY_ALLOW_FILE', viewAllowEntry, false)
  // Half of it would let in what the other half denies.
  deny = await open(options.registryDenyFile, 'REGISTRY_DENY_FILE', viewFilterEntry, true)
  standing = read()
  return {
    standing: (view) => standing(view),
    denyProblem: () => deny?.problem() ?? null,
    onChange: (listener) => {
      onChange = listener
    },
    close: () => {
      allow?.close()
      deny?.close()
    },
  }
}

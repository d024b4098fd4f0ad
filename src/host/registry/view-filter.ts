/** Lists of registered Views by what is known of them before their bytes are: an ID, a creator or the name of the type. */
import { fromBech32 } from '../../registry/bech32.ts'
import { kind, type SettingKind, scalarText } from '../../service/settings/setting-kinds.ts'
import { parseViewID } from '../../views/view-id.ts'

/** All Views; in a list of what is denied, all that are not allowed. */
const everything = '*'

/** An entry of such a list: an ID in the form of the registry chain, an address in lower case, a name, or `*`. */
export const viewFilterEntry: SettingKind<string> = kind(
  'the ID of a View (0x and 40 or 64 digits), the address of a creator (0x or Bech32), the name of a type, or *',
  (value) => {
    const text = scalarText(value)
    if (text === undefined) return undefined
    const { id, address } = parseViewID(text) ?? {}
    if (id !== undefined || address !== undefined) return id ?? address?.toLowerCase()
    const account = fromBech32(text)
    if (account !== null) return account
    return text === everything || /^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(text) ? text : undefined
  },
)

/** The same of what is allowed, by IDs that are known before a View is fetched. */
export const viewAllowEntry: SettingKind<string> = kind(
  'the ID of a View that the registry chain lists (0x and 40 digits, not the long one), the address of a creator (0x or Bech32), the name of a type, or *',
  (value) => {
    const isLong = parseViewID(scalarText(value) ?? '')?.id !== undefined
    const entry = isLong ? null : viewFilterEntry.schema.safeParse(value)
    return entry?.success === true ? entry.data : undefined
  },
)

/** A View as far as lists need it. */
export interface FilteredView {
  /** All IDs that are known of it. */
  readonly ids: readonly string[]
  readonly sender: string
  readonly name: string
}

interface ViewFilters {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

/** How a View stands in both lists. */
export type Standing = 'allowed' | 'denied' | 'neither'

/** Who is denied by name stays so, also where its creator is allowed. */
export function createViewFilter({ allow, deny }: ViewFilters): (view: FilteredView) => Standing {
  const allowed = new Set(allow)
  const denied = new Set(deny)
  return (view) => {
    const names = [...view.ids.map((id) => id.toLowerCase()), view.sender, view.name]
    if (names.some((name) => denied.has(name))) return 'denied'
    if (names.some((name) => allowed.has(name)) || allowed.has(everything)) return 'allowed'
    return denied.has(everything) ? 'denied' : 'neither'
  }
}

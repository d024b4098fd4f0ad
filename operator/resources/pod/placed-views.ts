/**
 * In which ConfigMaps the Views of a Host lie, a file each. A View stays in the one where it is, since pods see each of
 * them change by itself: a View that moved would be gone for a moment, and its rows with it.
 */

/** A View as a key of a ConfigMap. */
export interface StoredView {
  /** As `toViewFile` names it. */
  readonly name: string
  /** Base64. */
  readonly bytes: string
}

/** What a ConfigMap holds, by key; null where there is no such ConfigMap. */
export type ViewPart = Readonly<Record<string, string>> | null

/** Which View lies where. */
export interface PlacedViews {
  /** Null for a ConfigMap that there neither is nor has to be. */
  readonly parts: readonly ViewPart[]
  /** Names of those that have no room. */
  readonly left: readonly string[]
}

/** How many ConfigMaps a Host has for its Views. */
export const maxViewParts = 8

/** Bytes in one of them, of which the API server takes 1 MiB. */
export const maxPartBytes = 900_000

export const noPlacedViews: PlacedViews = { parts: [], left: [] }

/** Places these Views, the first ones first, beside what the ConfigMaps hold now. */
export function placeViews(
  current: readonly ViewPart[],
  wanted: readonly StoredView[],
): PlacedViews {
  const parts = Array.from({ length: maxViewParts }, (_, index): Record<string, string> | null =>
    current[index] ? {} : null,
  )
  const placeOf = ({ name }: StoredView): number =>
    current.findIndex((part) => part !== null && Object.hasOwn(part, name))
  const put = (index: number, { name, bytes }: StoredView): void => {
    const part = parts[index] ?? {}
    part[name] = bytes
    parts[index] = part
  }
  const views = [...new Map(wanted.map((view) => [view.name, view])).values()]
  for (const view of views) if (placeOf(view) >= 0) put(placeOf(view), view)
  const left: string[] = []
  for (const view of views.filter((each) => placeOf(each) < 0)) {
    const index = parts.findIndex((part) => sizeOf(part) + bytesOf(view.bytes) <= maxPartBytes)
    if (index < 0) left.push(view.name)
    else put(index, view)
  }
  return { parts, left }
}

function sizeOf(part: ViewPart): number {
  return Object.values(part ?? {}).reduce((sum, base64) => sum + bytesOf(base64), 0)
}

/** At most so many bytes are behind a text in base64. */
function bytesOf(base64: string): number {
  return (base64.length / 4) * 3
}

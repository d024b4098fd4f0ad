/** Under which names a Host serves its Views: each needs one of its own, and anybody may register any. */

/** A View that is to be served. */
export interface NamedView {
  /** 0x and 64 lower-case digits. */
  readonly id: string
  /** The name of its type. */
  readonly typeName: string
  /** The block of the registry chain that registered it; null for one that only this Host has. */
  readonly registeredAt: number | null
}

/** Digits of the ID that a name has at least, where the plain name is taken. */
const minDigits = 8

/**
 * The names of Views by ID. The first of a type name, by (height, ID) with local ones last, has the plain name,
 * the others `<Type>_<digits of the ID>`, as many as it takes. A name in `pinned` stays as long as its View is
 * served: nobody takes it away by registering later, or with a smaller ID.
 */
export function servedNames(
  views: readonly NamedView[],
  pinned: ReadonlyMap<string, string> = new Map(),
): Map<string, string> {
  const names = new Map(
    views.flatMap(({ id }): [string, string][] => {
      const name = pinned.get(id)
      return name === undefined ? [] : [[id, name]]
    }),
  )
  const taken = new Set(names.values())
  for (const view of views.toSorted(inOrder)) {
    if (names.has(view.id)) continue
    const name = freeName(view, taken)
    names.set(view.id, name)
    taken.add(name)
  }
  return names
}

function freeName(
  { id, typeName }: Pick<NamedView, 'id' | 'typeName'>,
  taken: ReadonlySet<string>,
): string {
  if (!taken.has(typeName)) return typeName
  const digits = id.slice(2)
  for (let length = minDigits; length <= digits.length; length += 1) {
    const name = `${typeName}_${digits.slice(0, length)}`
    if (!taken.has(name)) return name
  }
  // Only who registered every one of these as the name of a type gets here.
  return freeName({ id, typeName: `${typeName}_${digits}` }, taken)
}

function inOrder(a: NamedView, b: NamedView): number {
  if (a.registeredAt !== b.registeredAt)
    return (a.registeredAt ?? Infinity) < (b.registeredAt ?? Infinity) ? -1 : 1
  return a.id < b.id ? -1 : 1
}

/** Label selectors as requests carry them, for objects that are at hand. */

/**
 * Whether labels are selected by text such as `a=b,c in (d,e),f`: equality, membership and presence, which is
 * what is asked for here. Throws on any other form.
 */
export function isSelectedBy(
  selector: string,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return termsOf(selector).every((term) => {
    const match = /^([^\s=!()]+)\s*(?:={1,2}\s*([^\s=!(),]*)|in\s*\(([^()]*)\))?$/.exec(term)
    if (match === null) throw new RangeError(`cannot read the label selector ${term}`)
    const [, name = '', equal, members] = match
    const value = labels?.[name]
    if (value === undefined) return false
    if (equal !== undefined) return value === equal
    return members === undefined || members.split(',').some((member) => member.trim() === value)
  })
}

/** Parts between the commas that are not within parentheses. */
function termsOf(selector: string): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== '')
}

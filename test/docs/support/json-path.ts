/** The fields that a JSONPath template of kubectl reads; `[]` are items of a list. */

/** Each as its path from the top; what is within `range` is about the items of that list. */
export function jsonPathFields(template: string): string[][] {
  let base: readonly string[] = []
  return [...template.matchAll(/\{(range )?(\.[^{}]*|end)\}/g)].flatMap(([, range, path = '']) => {
    const used = path === 'end' ? [] : fieldsOf(path).map((fields) => [...base, ...fields])
    if (path === 'end') base = []
    else if (range !== undefined) base = used[0] ?? []
    return used
  })
}

/** `.a[*].b` as fields, and after it those that the filters on the way compare. */
function fieldsOf(path: string): string[][] {
  const filters: string[][] = []
  const fields: string[] = []
  const parts = path.matchAll(/\.(\w+)|\[\?\(@\.(\w+)[^)]*\)\]|(\[(?:\*|\d+)\])/g)
  for (const [, name, filter, items] of parts) {
    if (name !== undefined) fields.push(name)
    if (filter !== undefined) filters.push([...fields, '[]', filter])
    if (filter !== undefined || items !== undefined) fields.push('[]')
  }
  return [fields, ...filters]
}

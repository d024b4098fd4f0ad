/** JSON as pages show it: what fits a line stands in one. */

const width = 110

/** The text of a value, indented, with a newline at its end. */
export function formatJson(value: unknown): string {
  return `${format(value, '')}\n`
}

function format(value: unknown, indent: string, before = 0): string {
  const line = inOneLine(value)
  if (typeof value !== 'object' || value === null) return line
  if (indent.length + before + line.length <= width) return line
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    const items = value.map((one: unknown) => `${inner}${format(one, inner)}`)
    return items.length === 0 ? '[]' : `[\n${items.join(',\n')}\n${indent}]`
  }
  const parts = Object.entries(value).map(([name, part]) => {
    const key = `${JSON.stringify(name)}: `
    return `${inner}${key}${format(part, inner, key.length)}`
  })
  return parts.length === 0 ? '{}' : `{\n${parts.join(',\n')}\n${indent}}`
}

function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const parts = Object.entries(value).map(
    ([name, part]) => `${JSON.stringify(name)}: ${inOneLine(part)}`,
  )
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}

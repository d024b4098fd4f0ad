/** A section of a text that is made from code, between `<!-- begin name -->` and `<!-- end name -->`. */

/** What stands between the markers of `name`. Throws where one is missing. */
export function readSection(text: string, name: string): string {
  const { from, to } = findSection(text, name)
  return text.slice(from, to)
}

/** The text with another section `name`. Throws where a marker is missing. */
export function withSection(text: string, name: string, section: string): string {
  const { from, to } = findSection(text, name)
  return text.slice(0, from) + section + text.slice(to)
}

function findSection(text: string, name: string): { from: number; to: number } {
  const begin = `<!-- begin ${name} -->\n`
  const from = text.indexOf(begin) + begin.length
  const to = text.indexOf(`\n<!-- end ${name} -->`, from - 1)
  if (!text.includes(begin) || to < 0) throw new Error(`the text has no section "${name}"`)
  return { from, to }
}

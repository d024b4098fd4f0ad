/** The table of a chart's values, from the comments (`# -- ...`) of its values.yaml. */
import { readFileSync } from 'node:fs'
import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml'
import { repository } from '../support/repository.ts'

/** Markdown: each value that has a comment, or stands beside one that has, with its default. */
export function valuesTable(chart: string): string {
  const text = readFileSync(`${repository}/charts/${chart}/values.yaml`, 'utf8')
  const { contents, commentBefore } = parseDocument(text)
  if (!isMap(contents)) throw new Error(`charts/${chart}/values.yaml is no map`)
  const rows = rowsOf(contents, [], meaningOf(commentBefore))
  return ['| Value | Default | Meaning |', '| --- | --- | --- |', ...rows].join('\n')
}

/** `first` is what stands above the map, and so above its first value. */
function rowsOf(map: YAMLMap, path: readonly string[], first: string): string[] {
  return map.items.flatMap((pair, index) => {
    const name = [...path, keyOf(pair)]
    const meaning = commentOf(pair) || (index === 0 ? first : '')
    const { value } = pair
    if (!isMap(value) || !isCommented(value)) return [row(name, JSON.stringify(value), meaning)]
    const own = meaning === '' ? [] : [row(name, '', meaning)]
    return [...own, ...rowsOf(value, name, meaningOf(value.commentBefore))]
  })
}

function row(path: readonly string[], value: string, meaning: string): string {
  const shown = value === '' ? '' : `\`${value}\``
  return `| \`${path.join('.')}\` | ${shown} | ${meaning} |`.replaceAll('  ', ' ')
}

function isCommented(map: YAMLMap): boolean {
  return (
    meaningOf(map.commentBefore) !== '' ||
    map.items.some(
      (pair) => commentOf(pair) !== '' || (isMap(pair.value) && isCommented(pair.value)),
    )
  )
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : String(key)
}

function commentOf({ key }: Pair): string {
  return isScalar(key) ? meaningOf(key.commentBefore) : ''
}

/** What comes after the last `--` that begins a line; before it are examples of the value above. */
function meaningOf(comment: string | null | undefined): string {
  const parts = `\n${comment ?? ''}`.split(/\n -- /)
  const [meaning = ''] = parts.length === 1 ? [] : parts.slice(-1)
  return meaning.replaceAll(/\s+/g, ' ').trim().replaceAll(/[|<]/g, '\\$&')
}

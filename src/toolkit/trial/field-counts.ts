/** Counts what lenses write into each field of the SDL, and into fields that it does not have. */
import type { RowType } from '../../views/rows/row-type.ts'
import { toRow } from '../../views/rows/row-values.ts'
import type { FieldCount } from './trial-job.ts'

interface FieldCounts {
  /** Counts one document of the last lens. */
  add(output: Readonly<Record<string, unknown>>): void
  finish(): {
    readonly fields: readonly FieldCount[]
    readonly unknown: Readonly<Record<string, number>>
  }
}

/** A lens makes as many names as it likes. */
const maxUnknown = 100
const maxShown = 80

type Counting = { -readonly [K in keyof FieldCount]: FieldCount[K] }

/** Counts for the rows of a type. */
export function createFieldCounts({ fields }: Pick<RowType, 'fields'>): FieldCounts {
  const names = new Set(fields.map(({ name }) => name))
  const unknown = new Map<string, number>()
  const counts = fields.map((field) => {
    const { name, scalar, list } = field
    const count: Counting = {
      name,
      type: list ? `[${scalar}]` : scalar,
      values: 0,
      nulls: 0,
      missing: 0,
      wrongType: 0,
      wrongExample: null,
    }
    return { field, count }
  })
  return {
    add(output) {
      for (const { field, count } of counts) addField(count, field, output)
      for (const name of Object.keys(output)) {
        if (names.has(name)) continue
        const shown = name.slice(0, maxShown)
        if (unknown.has(shown) || unknown.size < maxUnknown)
          unknown.set(shown, (unknown.get(shown) ?? 0) + 1)
      }
    },
    finish: () => ({
      fields: counts.map(({ count }) => count),
      unknown: Object.fromEntries(unknown),
    }),
  }
}

function addField(
  count: Counting,
  field: RowType['fields'][number],
  output: Readonly<Record<string, unknown>>,
): void {
  if (!Object.hasOwn(output, field.name)) count.missing += 1
  else if (output[field.name] === null) count.nulls += 1
  else if (toRow({ fields: [field] }, output).mismatches === 0) count.values += 1
  else {
    count.wrongType += 1
    count.wrongExample ??= JSON.stringify(output[field.name]).slice(0, maxShown)
  }
}

/** The counts of several blocks as one. */
export function addCounts(
  one: readonly FieldCount[],
  other: readonly FieldCount[],
): readonly FieldCount[] {
  if (one.length === 0) return other
  return one.map((count, index) => {
    const more = other[index]
    if (more === undefined) return count
    return {
      name: count.name,
      type: count.type,
      values: count.values + more.values,
      nulls: count.nulls + more.nulls,
      missing: count.missing + more.missing,
      wrongType: count.wrongType + more.wrongType,
      wrongExample: count.wrongExample ?? more.wrongExample,
    }
  })
}

/** Queries of CometBFT over the events of transactions: conditions joined by AND. */

/** Values of a transaction's events by their key, as in `view.view_pending.address`. */
export type EventValues = ReadonlyMap<string, readonly string[]>

/** True where a transaction fits. */
export type CometQuery = (values: EventValues) => boolean

const condition =
  /^\s*([A-Za-z0-9_.]+)\s*(?:(EXISTS)|(=|>=|<=|>|<|CONTAINS)\s*(?:'([^']*)'|(-?\d+)))\s*$/

/** The query of a text; null where it cannot be parsed. An event's type alone is no key. */
export function parseCometQuery(text: string): CometQuery | null {
  const conditions = text.split(/\sAND\s/)
  const tests = conditions.map(toTest).filter((test) => test !== null)
  return tests.length < conditions.length ? null : (values) => tests.every((test) => test(values))
}

function toTest(text: string): CometQuery | null {
  const [, key = '', exists, operator = '', quoted, digits] = condition.exec(text) ?? []
  if (key === '') return null
  if (exists !== undefined) return (values) => values.has(key)
  const matches = comparison(operator, quoted ?? digits ?? '', quoted === undefined)
  return (values) => (values.get(key) ?? []).some(matches)
}

function comparison(
  operator: string,
  wanted: string,
  isNumber: boolean,
): (value: string) => boolean {
  const number = Number(wanted)
  switch (operator) {
    case '=':
      return isNumber ? (value) => Number(value) === number : (value) => value === wanted
    case 'CONTAINS':
      return (value) => value.includes(wanted)
    case '>':
      return (value) => Number(value) > number
    case '<':
      return (value) => Number(value) < number
    case '>=':
      return (value) => Number(value) >= number
    default:
      return (value) => Number(value) <= number
  }
}

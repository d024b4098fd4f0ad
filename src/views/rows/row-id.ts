/** The identity of a materialised row: the same at every Host, as rows are. */

/** A parsed identity. */
interface RowID {
  /** The long ID of the View. */
  readonly view: string
  readonly blockHash: string
  /** Place among the rows of the block, from 0. */
  readonly position: number
}

const shape = /^row-(0x[0-9a-f]{64})-(0x[0-9a-f]{64})-(0|[1-9][0-9]{0,15})$/

/** `row-<View ID>-<block hash>-<n>`; both hashes are 0x and 64 lower-case digits. */
export function rowID({ view, blockHash, position }: RowID): string {
  return `row-${view}-${blockHash}-${position}`
}

/** Null where the text is not exactly what `rowID` makes. */
export function parseRowID(text: string): RowID | null {
  const [, view = '', blockHash = '', digits] = shape.exec(text) ?? []
  const position = Number(digits)
  return Number.isSafeInteger(position) ? { view, blockHash, position } : null
}

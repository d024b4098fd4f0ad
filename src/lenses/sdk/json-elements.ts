/** The elements of a JSON array, one after the other. */
import { byteAt, CLOSE_ARRAY, COMMA, OPEN_ARRAY, skipSpace, skipValue } from './json-syntax'

/** A walk over one array, which is opened again for the next one. */
export class Elements {
  /** Where the element begins and ends. */
  value: usize = 0
  valueEnd: usize = 0
  /** True where the text is no JSON array, or one whose rest is malformed. */
  malformed: bool = false
  private at: usize = 0
  private end: usize = 0
  private first: bool = true

  /** Begins at an array; white space before and after it is allowed, anything else is not. */
  open(from: usize, end: usize): void {
    const at = skipSpace(from, end)
    this.end = end
    this.first = true
    this.malformed = byteAt(at, end) !== OPEN_ARRAY
    this.at = at + 1
  }

  /** Goes to the next element. False behind the last one, and where the text is malformed. */
  next(): bool {
    if (this.malformed) return false
    const at = skipSpace(this.at, this.end)
    const byte = byteAt(at, this.end)
    if (byte === CLOSE_ARRAY) return this.close(at)
    if (!this.first && byte !== COMMA) return this.fail()
    this.value = this.first ? at : skipSpace(at + 1, this.end)
    this.valueEnd = skipValue(this.value, this.end, 1)
    if (this.valueEnd === 0) return this.fail()
    this.first = false
    this.at = this.valueEnd
    return true
  }

  private close(at: usize): bool {
    this.at = at
    this.malformed = skipSpace(at + 1, this.end) !== this.end
    return false
  }

  private fail(): bool {
    this.malformed = true
    return false
  }
}

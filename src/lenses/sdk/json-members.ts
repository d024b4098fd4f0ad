/** The members of a JSON object, one after the other. */
import {
  byteAt,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_OBJECT,
  skipSpace,
  skipString,
  skipValue,
} from './json-syntax'

/** A walk over one object. It is made once and opened for each object, so that it takes no memory of its own. */
export class Members {
  /** Address of the quote before the name, and behind the one after it. */
  key: usize = 0
  keyEnd: usize = 0
  /** Where the value begins and ends. */
  value: usize = 0
  valueEnd: usize = 0
  /** True where the text is no JSON object, or one whose rest is malformed. */
  malformed: bool = false
  private at: usize = 0
  private end: usize = 0
  private first: bool = true

  /** Begins at an object; white space before and after it is allowed, anything else is not. */
  open(from: usize, end: usize): void {
    const at = skipSpace(from, end)
    this.end = end
    this.first = true
    this.malformed = byteAt(at, end) !== OPEN_OBJECT
    this.at = at + 1
  }

  /** Goes to the next member. False behind the last one, and where the text is malformed. */
  next(): bool {
    if (this.malformed) return false
    const at = skipSpace(this.at, this.end)
    const byte = byteAt(at, this.end)
    if (byte === CLOSE_OBJECT) {
      this.at = skipSpace(at + 1, this.end)
      this.malformed = this.at !== this.end
      return false
    }
    if (!this.first && byte !== COMMA) return this.fail()
    const isRead = this.read(this.first ? at : skipSpace(at + 1, this.end))
    this.first = false
    return isRead
  }

  private read(key: usize): bool {
    this.key = key
    this.keyEnd = skipString(key, this.end)
    if (this.keyEnd === 0) return this.fail()
    const colon = skipSpace(this.keyEnd, this.end)
    if (byteAt(colon, this.end) !== COLON) return this.fail()
    this.value = skipSpace(colon + 1, this.end)
    this.valueEnd = skipValue(this.value, this.end, 1)
    if (this.valueEnd === 0) return this.fail()
    this.at = this.valueEnd
    return true
  }

  private fail(): bool {
    this.malformed = true
    return false
  }
}

/** The members of a document, read once and then asked for by name. */
import { Members } from './json-members'
import { isKey } from './json-text'
import { putByte, putBytes } from './output'

/** Bytes of one entry: where name and value begin and end. */
const ENTRY: usize = 4 * sizeof<usize>()

/** A document's members; it is made once and opened for each document. */
export class Fields {
  count: i32 = 0
  private readonly members: Members = new Members()
  private entries: usize = heap.alloc(32 * ENTRY)
  private capacity: i32 = 32

  /** False where the text is no JSON object. */
  open(from: usize, end: usize): bool {
    const members = this.members
    this.count = 0
    members.open(from, end)
    while (members.next()) this.add(members)
    return !members.malformed
  }

  /** The place of the member of this ASCII name, the last one where it is there twice; -1 without one. */
  find(name: string): i32 {
    for (let place = this.count - 1; place >= 0; place--)
      if (isKey(this.key(place), this.keyEnd(place), name)) return place
    return -1
  }

  key(place: i32): usize {
    return load<usize>(this.entries + (place as usize) * ENTRY)
  }

  keyEnd(place: i32): usize {
    return load<usize>(this.entries + (place as usize) * ENTRY, sizeof<usize>())
  }

  value(place: i32): usize {
    return load<usize>(this.entries + (place as usize) * ENTRY, 2 * sizeof<usize>())
  }

  valueEnd(place: i32): usize {
    return load<usize>(this.entries + (place as usize) * ENTRY, 3 * sizeof<usize>())
  }

  /** Puts name and value as they are written, and a comma. */
  putMember(place: i32): void {
    putBytes(this.key(place), this.valueEnd(place) - this.key(place))
    putByte(0x2c)
  }

  /** Puts the value as it is written. */
  putValue(place: i32): void {
    putBytes(this.value(place), this.valueEnd(place) - this.value(place))
  }

  private add(members: Members): void {
    if (this.count === this.capacity) {
      this.capacity <<= 1
      this.entries = heap.realloc(this.entries, (this.capacity as usize) * ENTRY)
    }
    const entry = this.entries + (this.count as usize) * ENTRY
    store<usize>(entry, members.key)
    store<usize>(entry, members.keyEnd, sizeof<usize>())
    store<usize>(entry, members.value, 2 * sizeof<usize>())
    store<usize>(entry, members.valueEnd, 3 * sizeof<usize>())
    this.count++
  }
}

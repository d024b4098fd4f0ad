/** What the trust of a Host keeps beside the blocks: one value a name, as JSON. */
import { encodeJsonRecord, readJsonRecord } from '../../store/json-record.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Writer } from '../apply/writer.ts'

export interface JsonRecordParts {
  readonly writer: Pick<Writer, 'putRecord'>
  readonly reader: StoreReader
  /** Called when the writer cannot go on. */
  readonly onFatal: (error: unknown) => void
}

interface JsonRecord<T> {
  /** Null where nothing is kept. */
  read(): T | null
  /** Keeps a value; null forgets it. */
  put(value: T | null): void
}

/** The record of this name; only its own `put` may have written it. */
export function openJsonRecord<T>(
  name: string,
  { writer, reader, onFatal }: JsonRecordParts,
): JsonRecord<T> {
  return {
    read: () => reader.read((snapshot) => readJsonRecord(snapshot, name)),
    put: (value) => {
      writer.putRecord(name, value === null ? null : encodeJsonRecord(value)).catch(onFatal)
    },
  }
}

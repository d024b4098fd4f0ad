/**
 * The file of signers, as it was when it could be used last: the store remembers that list, so that a Host which
 * starts while the file is missing or half written accepts nobody less.
 */
import type { StoreReader } from '../../store/store.ts'
import type { Writer } from '../apply/writer.ts'

export interface SignersFile {
  readonly path: string
  /** The last good list; empty where there never was one. */
  values(): readonly string[]
  /** Why the file as it is now cannot be used; null while it can. */
  problem(): string | null
}

export interface RememberingParts {
  readonly writer: Pick<Writer, 'putRecord'>
  readonly reader: StoreReader
  /** Called when the writer cannot go on. */
  readonly onFatal: (error: unknown) => void
}

/** What is remembered, and of which file. */
interface Remembered {
  readonly path: string
  readonly identities: readonly string[]
}

const record = 'signers-file'

export interface RememberedFile extends SignersFile {
  /** Remembers the list as it is now. */
  save(): void
}

/** The file with its memory; null without a file, of which nothing is remembered then. */
export function rememberSigners(
  file: SignersFile | null,
  { writer, reader, onFatal }: RememberingParts,
): RememberedFile | null {
  const known = readRemembered(reader)
  const put = (value: Remembered | null): void => {
    const bytes = value === null ? null : new Uint8Array(Buffer.from(JSON.stringify(value)))
    writer.putRecord(record, bytes).catch(onFatal)
  }
  if (file === null) {
    if (known !== null) put(null)
    return null
  }
  const { path } = file
  const before = known?.path === path ? known.identities : []
  const values = (): readonly string[] => (file.values().length > 0 ? file.values() : before)
  const save = (): void => put({ path, identities: values() })
  if (values().join() !== before.join()) save()
  return { path, values, problem: file.problem, save }
}

function readRemembered(reader: StoreReader): Remembered | null {
  const bytes = reader.read((snapshot) => snapshot.record(record))
  return bytes === undefined ? null : (JSON.parse(bytes.toString()) as Remembered)
}

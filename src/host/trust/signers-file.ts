/**
 * A file of signers or of Hosts, as it was when it could be used last: the store remembers that list, so that a Host
 * which starts while the file is missing or half written accepts no fewer.
 */
import { type JsonRecordParts, openJsonRecord } from './json-record.ts'

export interface SignersFile {
  readonly path: string
  /** The last good list; empty where there never was one. */
  values(): readonly string[]
  /** Why the file as it is now cannot be used; null while it can. */
  problem(): string | null
}

/** What is remembered, and of which file. */
interface Remembered {
  readonly path: string
  readonly identities: readonly string[]
}

export interface RememberedFile extends SignersFile {
  /** Remembers the list as it is now. */
  save(): void
}

/** The file with its memory, the record of this name; null without a file, of which nothing is remembered then. */
export function rememberSigners(
  name: string,
  file: SignersFile | null,
  parts: JsonRecordParts,
): RememberedFile | null {
  const record = openJsonRecord<Remembered>(name, parts)
  const known = record.read()
  if (file === null) {
    if (known !== null) record.put(null)
    return null
  }
  const { path } = file
  const before = known?.path === path ? known.identities : []
  const values = (): readonly string[] => (file.values().length > 0 ? file.values() : before)
  const save = (): void => record.put({ path, identities: values() })
  if (values().join() !== before.join()) save()
  return { path, values, problem: file.problem, save }
}

/** Working files of a View that are lost or broken, written again from its last revision. The caller holds the lock. */
import { join, resolve } from 'node:path'
import { ServiceError } from '../../errors.ts'
import type { History } from './history.ts'
import { type ProjectPlaces, writeProjectFile } from './project-files.ts'
import type { ViewContent } from './view-content.ts'
import { type ListedLens, viewYaml } from './view-yaml.ts'
import {
  type LoadedLens,
  placeLenses,
  queryName,
  readLens,
  readListed,
  readViewText,
  schemaName,
  viewFolder,
  yamlName,
} from './working-files.ts'

/** Where lost files come from. */
interface Kept {
  readonly last: ViewContent
  readonly history: History
}

/**
 * Writes each file that cannot be read as the last revision has it; the others stay as they were edited. Returns whether there
 * was one.
 */
export async function mendWorkingFiles(
  places: ProjectPlaces,
  name: string,
  { last, history }: Kept,
): Promise<boolean> {
  const query = await mendText(places, name, queryName, last.query)
  const sdl = await mendText(places, name, schemaName, last.sdl)
  const listed = await readOrNull(() => readListed(places, name))
  const lenses = await readAll(places, listed ?? [])
  const isWhole = listed !== null && lenses.length === listed.length
  if (isWhole) return query || sdl
  if (listed !== null && (await putBackLenses(places, name, { last, history }))) return true
  const placed = await placeLenses(places, name, last.lenses, { history, current: lenses })
  await writeProjectFile(places, join(viewFolder(places, name), yamlName), viewYaml(placed))
  return true
}

/**
 * Writes lost modules where `view.yaml` has them. Returns whether all lenses can be read then; one that is not of the last
 * revision stays lost.
 */
export async function putBackLenses(
  places: ProjectPlaces,
  name: string,
  { last, history }: Kept,
): Promise<boolean> {
  let isWhole = true
  for (const lens of await readListed(places, name))
    isWhole = (await putBack(places, lens, { last, history })) && isWhole
  return isWhole
}

/** Returns whether the lens can be read. */
async function putBack(
  places: ProjectPlaces,
  lens: ListedLens,
  { last, history }: Kept,
): Promise<boolean> {
  try {
    await readLens(places, lens)
    return true
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const kept = last.lenses.find(({ label }) => label === lens.label)
    if (error.code !== 'TOOLKIT_LENS_MISSING' || kept === undefined) return false
    const wasm = await history.readModule(kept.sha256)
    const path = resolve(places.folder, lens.file)
    return (await readOrNull(async () => writeProjectFile(places, path, wasm))) !== null
  }
}

async function mendText(
  places: ProjectPlaces,
  name: string,
  file: string,
  wanted: string | null,
): Promise<boolean> {
  const found = await readOrNull(async () => ({ text: await readViewText(places, name, file) }))
  if (found !== null) return false
  await writeProjectFile(places, join(viewFolder(places, name), file), wanted ?? '')
  return true
}

async function readAll(
  places: ProjectPlaces,
  listed: readonly ListedLens[],
): Promise<LoadedLens[]> {
  const lenses: LoadedLens[] = []
  for (const lens of listed) {
    const read = await readOrNull(() => readLens(places, lens))
    if (read !== null) lenses.push(read)
  }
  return lenses
}

/** Null where the file is not as it may be. */
async function readOrNull<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}

/**
 * What people edit of a View: `views/<name>/view.yaml`, `query.graphql` and `schema.graphql`, and the modules that
 * the first of them names.
 */
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ServiceError } from '../../errors.ts'
import { viewLimits } from '../../views/view.ts'
import type { History } from './history.ts'
import {
  draftPath,
  listFolder,
  makeFolder,
  type ProjectPlaces,
  pathInProject,
  readProjectFile,
  writeProjectFile,
} from './project-files.ts'
import { type KeptLens, lensesKey, sha256, type ViewContent } from './view-content.ts'
import { type ListedLens, parseViewYaml, viewYaml } from './view-yaml.ts'

/** A lens with its module. */
export interface LoadedLens extends KeptLens {
  readonly wasm: Uint8Array
  /** The file it is read from, absolute. */
  readonly path: string
}

/** The files of a View as they are now. */
export interface WorkingView extends ViewContent {
  readonly lenses: readonly LoadedLens[]
}

/** Where modules come from: a file in the project that has it already, else what is kept by hash. */
interface LensSources {
  readonly history: History
  readonly current: readonly LoadedLens[]
}

/** Names of the files in a View's folder. */
export const queryName = 'query.graphql'
export const schemaName = 'schema.graphql'
export const yamlName = 'view.yaml'

/** Of `view.yaml`: more arguments than that fit into no View. */
const maxYamlBytes = 8 * viewLimits.wire
/** More than a View may have, so that what is too large is refused where sizes are. */
const maxTextBytes = 64 * viewLimits.query

/** The folder of a View. */
export function viewFolder({ folder }: ProjectPlaces, name: string): string {
  return join(folder, 'views', name)
}

/** Whether there is such a View. */
export function hasWorkingFiles(places: ProjectPlaces, name: string): boolean {
  return existsSync(join(viewFolder(places, name), yamlName))
}

/** @throws ServiceError `TOOLKIT_FILE_REFUSED`, `TOOLKIT_VIEW_UNREADABLE`, or `TOOLKIT_LENS_MISSING`. */
export async function readWorkingFiles(places: ProjectPlaces, name: string): Promise<WorkingView> {
  const listed = await readListed(places, name)
  const lenses: LoadedLens[] = []
  for (const lens of listed) lenses.push(await readLens(places, lens))
  return {
    query: await readViewText(places, name, queryName),
    sdl: await readViewText(places, name, schemaName),
    lenses,
  }
}

/** The lenses as `view.yaml` has them. @throws ServiceError `TOOLKIT_FILE_REFUSED`, `TOOLKIT_VIEW_UNREADABLE` */
export async function readListed(places: ProjectPlaces, name: string): Promise<ListedLens[]> {
  const path = join(viewFolder(places, name), yamlName)
  const bytes = await readProjectFile(places, path, maxYamlBytes)
  return parseViewYaml(
    Buffer.from(bytes ?? []).toString('utf8'),
    pathInProject(places, path) ?? path,
  )
}

/** The text of a file of the View; null where it is empty or not there. @throws ServiceError `TOOLKIT_FILE_REFUSED` */
export async function readViewText(
  places: ProjectPlaces,
  name: string,
  file: string,
): Promise<string | null> {
  const bytes = await readProjectFile(places, join(viewFolder(places, name), file), maxTextBytes)
  const text = Buffer.from(bytes ?? [])
    .toString('utf8')
    .trim()
  return text === '' ? null : text
}

/** A lens with its module. @throws ServiceError `TOOLKIT_FILE_REFUSED`, `TOOLKIT_LENS_MISSING` */
export async function readLens(
  places: ProjectPlaces,
  { label, file, args }: ListedLens,
): Promise<LoadedLens> {
  const path = resolve(places.folder, file)
  const wasm = await readProjectFile(places, path, viewLimits.blob)
  if (wasm === null)
    throw new ServiceError('TOOLKIT_LENS_MISSING', `the lens ${label} has no file ${file}`, {
      facts: { label, path },
      remedy:
        'Build it, put it back, or remove the lens; viewmesh view rollback restores what a version had.',
    })
  return { label, args, wasm, path, sha256: sha256(wasm), bytes: wasm.length }
}

/** A View whose folder appears at once, with all in it. */
export async function createWorkingFiles(
  places: ProjectPlaces,
  name: string,
  state: ViewContent,
  { history, current }: LensSources,
): Promise<void> {
  const listed = await placeLenses(places, name, state.lenses, { history, current })
  const draft = await draftPath(places)
  await mkdir(draft)
  await writeFile(join(draft, queryName), fileText(state.query))
  await writeFile(join(draft, schemaName), fileText(state.sdl))
  await writeFile(join(draft, yamlName), viewYaml(listed))
  await makeFolder(places, join(places.folder, 'views'))
  await rename(draft, viewFolder(places, name))
}

/**
 * Brings the files from one state to another. What is of neither was edited meanwhile, and stays.
 * It may be done again after it was interrupted anywhere.
 */
export async function bringWorkingFiles(
  places: ProjectPlaces,
  name: string,
  { from, to }: { readonly from: ViewContent; readonly to: ViewContent },
  { history, current: given }: LensSources,
): Promise<void> {
  const folder = viewFolder(places, name)
  const bringText = async (file: string, old: string | null, wanted: string | null) => {
    const current = await readViewText(places, name, file)
    if (current === old && current !== wanted)
      await writeProjectFile(places, join(folder, file), fileText(wanted))
  }
  await bringText(queryName, from.query, to.query)
  await bringText(schemaName, from.sdl, to.sdl)
  if (lensesKey(from.lenses) === lensesKey(to.lenses)) return
  const current = await readIfWhole(places, name)
  if (current === null || lensesKey(current) !== lensesKey(from.lenses)) return
  const sources = { history, current: [...current, ...given] }
  const listed = await placeLenses(places, name, to.lenses, sources)
  await writeProjectFile(places, join(folder, yamlName), viewYaml(listed))
  await removeUnlisted(places, name, { listed, history })
}

/** The lenses as they are; null where one cannot be read, which is then left to its author. */
async function readIfWhole(
  places: ProjectPlaces,
  name: string,
): Promise<readonly LoadedLens[] | null> {
  try {
    return (await readWorkingFiles(places, name)).lenses
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}

/** Sees to it that each lens has a file, and never writes over one. @throws ServiceError `TOOLKIT_HISTORY_DAMAGED` */
export async function placeLenses(
  places: ProjectPlaces,
  name: string,
  lenses: readonly KeptLens[],
  { history, current }: LensSources,
): Promise<ListedLens[]> {
  const listed: ListedLens[] = []
  for (const { label, args, sha256: hash } of lenses) {
    const same = current.find((lens) => lens.label === label && lens.sha256 === hash)
    const wasm = same?.wasm ?? (await history.readModule(hash))
    const path = same?.path ?? (await ownFile(places, name, { label, hash, wasm }))
    listed.push({ label, args, file: pathInProject(places, path) ?? path })
  }
  return listed
}

interface PlacedModule {
  readonly label: string
  readonly hash: string
  readonly wasm: Uint8Array
}

/** `lenses/<view>.<label>.wasm`, with a part of the hash where that name has other content. */
async function ownFile(
  places: ProjectPlaces,
  name: string,
  { label, hash, wasm }: PlacedModule,
): Promise<string> {
  const base = join(places.folder, 'lenses', `${name}.${label}`)
  const plain = await hashOfModule(places, `${base}.wasm`)
  if (plain === hash) return `${base}.wasm`
  const path = plain === null ? `${base}.wasm` : `${base}.${hash.slice(0, 16)}.wasm`
  await writeProjectFile(places, path, wasm)
  return path
}

/** Its SHA-256; null where nothing is there, empty where what is there is no file that could be a module. */
async function hashOfModule(places: ProjectPlaces, path: string): Promise<string | null> {
  try {
    const found = await readProjectFile(places, path, viewLimits.blob)
    return found === null ? null : sha256(found)
  } catch (error) {
    if (error instanceof ServiceError) return ''
    throw error
  }
}

/** Removes modules that the toolkit placed for this View and that it no longer names; they are kept by their hash. */
export async function removeUnlisted(
  places: ProjectPlaces,
  name: string,
  { listed, history }: { readonly listed: readonly ListedLens[]; readonly history: History },
): Promise<void> {
  const folder = join(places.folder, 'lenses')
  const listedFiles = new Set(listed.map(({ file }) => file))
  for (const file of await listFolder(places, folder)) {
    if (!file.startsWith(`${name}.`) || !file.endsWith('.wasm')) continue
    if (listedFiles.has(`lenses/${file}`)) continue
    const hash = await hashOfModule(places, join(folder, file))
    if (hash && (await history.hasModule(hash))) await rm(join(folder, file))
  }
}

function fileText(text: string | null): string {
  return text === null ? '' : `${text}\n`
}

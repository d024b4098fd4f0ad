/**
 * The history of a project, which only the toolkit writes: revisions by View, modules by their hash, and wire bytes
 * by what they were made of. Of a View `applied` says which revision its working files were brought to last.
 */
import { rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { viewLimits } from '../../views/view.ts'
import {
  draftPath,
  isMissing,
  listFolder,
  makeFolder,
  type ProjectPlaces,
  readProjectFile,
  writeProjectFile,
} from './project-files.ts'
import { damaged, parseRevision, type Revision, revisionText } from './revision.ts'
import { contentKey, sha256, type ViewContent } from './view-content.ts'

/** What a project keeps beside its working files. Whoever writes holds the lock. */
export interface History {
  /** Numbers of the revisions of a View, ascending; none where it has no history. */
  revisions(name: string): Promise<readonly number[]>
  /** @throws ServiceError `TOOLKIT_HISTORY_DAMAGED` */
  readRevision(name: string, revision: number): Promise<Revision>
  writeRevision(name: string, revision: Revision): Promise<void>
  /** 0 where no working files were written yet. */
  readApplied(name: string): Promise<number>
  writeApplied(name: string, revision: number): Promise<void>
  /** Forgets a View; its wire bytes stay, so that the same content has the same ID again. */
  remove(name: string): Promise<void>
  /** @throws ServiceError `TOOLKIT_HISTORY_DAMAGED` where it is not there or not what its hash says. */
  readModule(hash: string): Promise<Uint8Array>
  hasModule(hash: string): Promise<boolean>
  /** Keeps a module and returns its hash. */
  keepModule(wasm: Uint8Array): Promise<string>
  /** Removes modules that no revision of any View has. */
  dropModules(): Promise<void>
  /** Null where none were made of this content. */
  readWire(state: ViewContent): Promise<Uint8Array | null>
  keepWire(state: ViewContent, wire: Uint8Array): Promise<void>
}

/** Of one revision: the wire bytes, whose arguments JSON escapes at most sixfold, and the labels. */
const maxRevisionBytes = 8 * viewLimits.wire

/** Nothing else among the modules is the toolkit's, so nothing else is removed. */
const modulePattern = /^[0-9a-f]{64}\.wasm$/

/** The history in a project's folder. */
export function createHistory(places: ProjectPlaces): History {
  const views = join(places.history, 'views')
  const modules = join(places.history, 'lenses')
  const folderOf = (name: string): string => join(views, name)
  const revisionPath = (name: string, revision: number): string =>
    join(folderOf(name), `${String(revision).padStart(6, '0')}.json`)
  const appliedPath = (name: string): string => join(folderOf(name), 'applied')
  const modulePath = (hash: string): string => join(modules, `${hash}.wasm`)
  const wirePath = (state: ViewContent): string =>
    join(places.history, 'wires', `${sha256(contentKey(state))}.wire`)

  const history: History = {
    async revisions(name) {
      const names = await listFolder(places, folderOf(name))
      return names
        .flatMap((file) => /^(\d{6,})\.json$/.exec(file)?.[1] ?? [])
        .map(Number)
        .sort((one, other) => one - other)
    },
    async readRevision(name, revision) {
      const path = revisionPath(name, revision)
      const bytes = await readProjectFile(places, path, maxRevisionBytes)
      if (bytes === null) throw damaged(path)
      const read = parseRevision(Buffer.from(bytes).toString('utf8'), path)
      if (read.revision !== revision) throw damaged(path)
      return read
    },
    writeRevision: (name, revision) =>
      writeProjectFile(places, revisionPath(name, revision.revision), revisionText(revision)),
    async readApplied(name) {
      const bytes = await readProjectFile(places, appliedPath(name), 32)
      const text = Buffer.from(bytes ?? []).toString('latin1')
      return /^[0-9]+\n$/.test(text) ? Number(text) : 0
    },
    writeApplied: (name, revision) => writeProjectFile(places, appliedPath(name), `${revision}\n`),
    remove: (name) => discard(places, folderOf(name)),
    async readModule(hash) {
      const wasm = await readProjectFile(places, modulePath(hash), viewLimits.blob)
      if (wasm === null || sha256(wasm) !== hash) throw damaged(modulePath(hash))
      return wasm
    },
    async hasModule(hash) {
      const kept = await readProjectFile(places, modulePath(hash), viewLimits.blob)
      return kept !== null && sha256(kept) === hash
    },
    async keepModule(wasm) {
      const hash = sha256(wasm)
      if (!(await history.hasModule(hash))) await writeProjectFile(places, modulePath(hash), wasm)
      return hash
    },
    async dropModules() {
      const wanted = new Set<string>()
      for (const name of await listFolder(places, views))
        for (const revision of await history.revisions(name))
          for (const lens of (await history.readRevision(name, revision)).lenses)
            wanted.add(`${lens.sha256}.wasm`)
      for (const file of await listFolder(places, modules))
        if (modulePattern.test(file) && !wanted.has(file)) await rm(join(modules, file))
    },
    readWire: (state) => readProjectFile(places, wirePath(state), viewLimits.wire),
    keepWire: (state, wire) => writeProjectFile(places, wirePath(state), wire),
  }
  return history
}

/** Moves a folder away in one step, then removes it. */
export async function discard(places: ProjectPlaces, folder: string): Promise<void> {
  await makeFolder(places, dirname(folder))
  const away = await draftPath(places)
  try {
    await rename(folder, away)
  } catch (error) {
    if (isMissing(error)) return
    throw error
  }
  await rm(away, { recursive: true })
}

/**
 * How a View goes from one revision to the next. The revision is written first, with all that it consists of, then the working
 * files are brought to it, then `applied` says so: whoever comes after a kill finishes that. The caller holds the lock,
 * but for `loadSettled`.
 */
import { ServiceError } from '../../errors.ts'
import type { History } from './history.ts'
import { mendWorkingFiles, putBackLenses } from './lost-files.ts'
import type { ProjectPlaces } from './project-files.ts'
import type { ProjectView, ViewDraft } from './project-view.ts'
import type { Revision } from './revision.ts'
import { contentKey, emptyContent, type KeptLens, sha256 } from './view-content.ts'
import {
  bringWorkingFiles,
  createWorkingFiles,
  type LoadedLens,
  readWorkingFiles,
  type WorkingView,
} from './working-files.ts'

/** Where Views and their histories are. */
export interface ViewKeeper {
  readonly places: ProjectPlaces
  readonly history: History
}

/** The View where its files are its last revision; null where something has to be done about that first. */
export async function loadSettled(keeper: ViewKeeper, name: string): Promise<ProjectView | null> {
  const last = await lastRevision(keeper.history, name)
  if (last === null || (await keeper.history.readApplied(name)) !== last.revision) return null
  const working = await readWorkingFiles(keeper.places, name)
  return contentKey(working) === contentKey(last) ? toView(name, last.revision, working) : null
}

/** Finishes an interrupted change, then makes a revision of what was edited. */
export async function absorb(keeper: ViewKeeper, name: string): Promise<ProjectView> {
  const { places, history } = keeper
  await finish(keeper, name)
  const last = await lastRevision(history, name)
  const working = await readWorkingFiles(places, name)
  if (last !== null && contentKey(working) === contentKey(last))
    return toView(name, last.revision, working)
  const revision = await record(keeper, name, working, {
    cause: last === null ? 'found' : 'edited',
    restores: null,
  })
  await history.writeApplied(name, revision.revision)
  return toView(name, revision.revision, working)
}

/** The first revision of a new View. */
export async function createFirst(
  keeper: ViewKeeper,
  name: string,
  draft: ViewDraft,
  cause: string,
): Promise<ProjectView> {
  const { places, history } = keeper
  // What a View of this name left that was not deleted whole.
  await history.remove(name)
  const wanted = toWorking(draft)
  const revision = await record(keeper, name, wanted, { cause, restores: null })
  await createWorkingFiles(places, name, revision, { history, current: placed(wanted) })
  await history.writeApplied(name, revision.revision)
  return absorb(keeper, name)
}

/** The next revision; where nothing changes, the last one stays. */
export async function append(
  keeper: ViewKeeper,
  name: string,
  draft: ViewDraft,
  cause: string,
): Promise<ProjectView> {
  return bring(keeper, name, toWorking(draft), { cause, restores: null })
}

/** Writes lenses again whose modules are lost; what no revision has stays lost. */
export async function putBackLost({ places, history }: ViewKeeper, name: string): Promise<void> {
  const last = await lastRevision(history, name)
  if (last !== null) await putBackLenses(places, name, { last, history })
}

/**
 * The next revision, with the content of an earlier one. Files that cannot be read are written again first; where no revision is
 * asked for, that is all.
 */
export async function restore(
  keeper: ViewKeeper,
  name: string,
  wanted: number | null,
): Promise<{ view: ProjectView; restored: number }> {
  const { places, history } = keeper
  const last = await lastRevision(history, name)
  const isMended = last !== null && (await mendWorkingFiles(places, name, { last, history }))
  const current = await lastOf(keeper, name)
  if (isMended && wanted === null)
    return { view: await absorb(keeper, name), restored: current.revision }
  const target = wanted ?? (current.restores ?? current.revision) - 1
  const found = (await history.revisions(name)).includes(target)
  if (!found) throw noRevision(name, target, wanted === null)
  const before = await history.readRevision(name, target)
  const restored = before.restores ?? before.revision
  const lenses: LoadedLens[] = []
  for (const lens of before.lenses)
    lenses.push({ ...lens, wasm: await history.readModule(lens.sha256), path: '' })
  const { query, sdl } = before
  const change = { cause: `rollback to ${target}`, restores: restored }
  return { view: await bring(keeper, name, { query, sdl, lenses }, change), restored: target }
}

interface Change {
  readonly cause: string
  readonly restores: number | null
}

async function bring(
  keeper: ViewKeeper,
  name: string,
  wanted: WorkingView,
  change: Change,
): Promise<ProjectView> {
  const { places, history } = keeper
  const from = await lastOf(keeper, name)
  if (change.restores === null && contentKey(from) === contentKey(wanted))
    return absorb(keeper, name)
  const to = await record(keeper, name, wanted, change)
  await bringWorkingFiles(places, name, { from, to }, { history, current: placed(wanted) })
  await history.writeApplied(name, to.revision)
  return absorb(keeper, name)
}

/** Brings the working files to the last revision where a kill kept that from being done. */
async function finish({ places, history }: ViewKeeper, name: string): Promise<void> {
  const last = await lastRevision(history, name)
  const applied = await history.readApplied(name)
  if (last === null || applied === last.revision) return
  const from = applied === 0 ? emptyContent : await history.readRevision(name, applied)
  await bringWorkingFiles(places, name, { from, to: last }, { history, current: [] })
  await history.writeApplied(name, last.revision)
}

/** Writes a revision, its modules first. */
async function record(
  { history }: ViewKeeper,
  name: string,
  { query, sdl, lenses }: WorkingView,
  { cause, restores }: Change,
): Promise<Revision> {
  const kept: KeptLens[] = []
  for (const { label, args, wasm } of lenses)
    kept.push({ label, args, sha256: await history.keepModule(wasm), bytes: wasm.length })
  const number = ((await history.revisions(name)).at(-1) ?? 0) + 1
  const at = new Date().toISOString()
  const revision = { revision: number, at, cause, restores, query, sdl, lenses: kept }
  await history.writeRevision(name, revision)
  return revision
}

async function lastRevision(history: History, name: string): Promise<Revision | null> {
  const last = (await history.revisions(name)).at(-1)
  return last === undefined ? null : history.readRevision(name, last)
}

/** The last revision of a View whose edits are absorbed. */
async function lastOf(keeper: ViewKeeper, name: string): Promise<Revision> {
  const { revision } = await absorb(keeper, name)
  return keeper.history.readRevision(name, revision)
}

function toWorking({ query, sdl, lenses }: ViewDraft): WorkingView {
  return {
    query: trimmed(query),
    sdl: trimmed(sdl),
    lenses: lenses.map(({ label, args, wasm, path = '' }) => ({
      ...{ label, args, wasm, path },
      sha256: sha256(wasm),
      bytes: wasm.length,
    })),
  }
}

/** As it is read back from a file. */
function trimmed(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text.trim()
}

function placed({ lenses }: WorkingView): LoadedLens[] {
  return lenses.filter(({ path }) => path !== '')
}

function toView(name: string, revision: number, { query, sdl, lenses }: WorkingView): ProjectView {
  return {
    ...{ name, revision, query, sdl },
    lenses: lenses.map(({ label, args, wasm, path }) => ({ label, args, wasm, path })),
  }
}

function noRevision(name: string, wanted: number, isImplied: boolean): ServiceError {
  const message = isImplied
    ? `view '${name}' has no version before this one`
    : `rollback failed: version ${wanted} not found`
  return new ServiceError('TOOLKIT_REVISION_MISSING', message, {
    remedy: `viewmesh view inspect ${name} --verbose lists the versions.`,
  })
}

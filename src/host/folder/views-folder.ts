/**
 * The Views of a folder, served as if each was posted: what comes is checked and served, what goes ends, and a folder
 * that cannot be read changes nothing. What is served is in the book of Views, so that this begins after a kill where
 * it was.
 */
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { ServiceError } from '../../errors.ts'
import type { FailureReport } from '../../service/contract.ts'
import { openPolling } from '../../service/polling.ts'
import type { Registration } from '../../views/registration.ts'
import { parseViewFile, viewFileID } from '../../views/view-file.ts'
import { viewIDs } from '../../views/view-id.ts'
import { isLocal } from '../views/hosted-view.ts'
import type { ViewChecker } from '../views/view-checker.ts'
import type { HostViews } from '../views/views.ts'
import { type FolderFile, listViewFiles, readFolderFile } from './folder-files.ts'
import { type FolderReport, folderFailures, toFolderReport } from './folder-report.ts'
import { declareFolderMetrics } from './metrics.ts'
import { isOver, type RefusedFile, toRefusal } from './refusals.ts'

interface ViewsFolderOptions {
  /** Null for none: Views of a folder that there was before end. */
  readonly viewsDir: string | null
  /** Poll interval in ms. Default 2,000. */
  readonly pollIntervalMs?: number
}

interface ViewsFolderParts {
  readonly log: Logger
  readonly registry: Registry
  readonly views: Pick<HostViews, 'kept' | 'register' | 'withdraw'>
  readonly checker: ViewChecker
  /** Called where the store cannot go on. */
  readonly onFatal: (error: unknown) => void
}

export interface ViewsFolder {
  /** Null without a folder. */
  report(): FolderReport | null
  /** What is not served of it, as `/health` shows it. */
  failures(): readonly FailureReport[]
  /** Resolves when nothing is under way. */
  close(): Promise<void>
}

interface FolderState extends Omit<ViewsFolderParts, 'registry' | 'onFatal'> {
  readonly path: string
  /** Why the folder cannot be read; null while it can. */
  problem: string | null
  /** When it was read last; null before the first time. */
  readAtMs: number | null
  files: readonly FolderFile[]
  /** By the names of files. */
  readonly refusals: Map<string, RefusedFile>
  isClosed: boolean
}

/** Begins at once. */
export async function openViewsFolder(
  { viewsDir, pollIntervalMs = 2_000 }: ViewsFolderOptions,
  { registry, onFatal, ...parts }: ViewsFolderParts,
): Promise<ViewsFolder> {
  if (viewsDir === null) {
    for (const { id } of ofFolder(parts)) await parts.views.withdraw(id, 'folder')
    declareFolderMetrics(registry, () => null)
    return { report: () => null, failures: () => [], close: async () => undefined }
  }
  const state: FolderState = {
    ...parts,
    path: viewsDir,
    problem: null,
    readAtMs: null,
    files: [],
    refusals: new Map(),
    isClosed: false,
  }
  const facts = () => ({ ...state, served: ofFolder(parts).length })
  const report = (): FolderReport => toFolderReport(facts())
  declareFolderMetrics(registry, report)
  const polling = openPolling(pollIntervalMs, () => readFolder(state).catch(onFatal))
  polling.poll()
  return {
    report,
    failures: () => folderFailures(facts()),
    async close() {
      state.isClosed = true
      await polling.close()
    },
  }
}

function ofFolder({ views }: Pick<ViewsFolderParts, 'views'>): ReturnType<HostViews['kept']> {
  return views.kept().filter(({ origins }) => origins.includes('folder'))
}

/** @throws ServiceError where the store cannot go on. */
async function readFolder(state: FolderState): Promise<void> {
  try {
    state.files = await listViewFiles(state.path)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    noteProblem(state, error.message)
    return
  }
  noteProblem(state, null)
  await endGone(state)
  await admitNew(state)
  state.readAtMs = Date.now()
}

function noteProblem(state: FolderState, problem: string | null): void {
  const { path, log } = state
  if (problem !== null && problem !== state.problem)
    log.warn({ path, problem }, 'folder of Views not readable, what was served stays')
  state.problem = problem
}

async function endGone(state: FolderState): Promise<void> {
  const { files, refusals, views } = state
  const names = new Set(files.map(({ name }) => name))
  for (const name of refusals.keys()) if (!names.has(name)) refusals.delete(name)
  const ids = new Set(files.map(({ name }) => viewFileID(name)))
  for (const { id } of ofFolder(state)) if (!ids.has(id)) await views.withdraw(id, 'folder')
}

/** A file of a View that is served need not be read: its name says which View that is. */
async function admitNew(state: FolderState): Promise<void> {
  const { files, refusals, checker } = state
  const served = new Set(ofFolder(state).map(({ id }) => id))
  const localViews = countLocal(state)
  const isDue = (file: FolderFile): boolean => {
    if (served.has(viewFileID(file.name) ?? '')) return false
    const refusal = refusals.get(file.name)
    return refusal === undefined || isOver(refusal, file, localViews, Date.now())
  }
  const due = files.filter(isDue)
  // What was never refused does not wait for what was.
  const inTurn = due.toSorted((a, b) => +refusals.has(a.name) - +refusals.has(b.name))
  let full: ServiceError | null = null
  for (const file of inTurn) {
    if (state.isClosed) break
    full = await admit(state, file, full)
  }
  if (due.length > 0) await checker.rest()
}

function countLocal({ views }: Pick<ViewsFolderParts, 'views'>): number {
  return views.kept().filter(isLocal).length
}

/** Returns the error of a Host that serves as many Views as it may: then no further file is read. */
async function admit(
  state: FolderState,
  file: FolderFile,
  full: ServiceError | null,
): Promise<ServiceError | null> {
  let isForeign = false
  let registration: Registration | null = null
  try {
    if (full !== null) throw full
    registration = { ...(await readView(state, file)), registeredAt: null }
    const { foreign, type: _, ...facts } = await state.checker.check(registration)
    isForeign = foreign !== null
    if (facts.id !== viewFileID(file.name)) throw misnamed(`its bytes are the View ${facts.id}`)
    await state.views.register(registration, 'folder', facts)
    state.refusals.delete(file.name)
    return null
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code.startsWith('STORE_')) throw error
    refuse(state, { file, error, address: addressOf(file, registration) })
    return error.code === 'HOST_VIEWS_FULL' && !isForeign ? error : null
  }
}

async function readView(
  { path }: FolderState,
  { name }: FolderFile,
): Promise<ReturnType<typeof parseViewFile>> {
  if (viewFileID(name) === null) throw misnamed('its name is not the long ID of a View')
  return parseViewFile(await readFolderFile(path, name))
}

function misnamed(what: string): ServiceError {
  return new ServiceError('VIEWS_FILE_MALFORMED', what, {
    remedy:
      'Name the file by the keccak256 of its bytes, 0x and 64 lower-case digits, and .view; where it was named so, write it once more.',
  })
}

/** The other ID of the View that a file is named after. */
function addressOf({ name }: FolderFile, registration: Registration | null): string | null {
  if (registration === null) return null
  const { id, address } = viewIDs(registration.sender, registration.wire)
  return id === viewFileID(name) ? address : null
}

function refuse(
  state: FolderState,
  refused: Pick<RefusedFile, 'file' | 'error' | 'address'>,
): void {
  const { refusals, log } = state
  const { file, error } = refused
  const { code, message } = error
  const before = refusals.get(file.name)?.error
  if (before?.code !== code || before.message !== message)
    log.warn({ file: file.name, code, reason: message }, 'file of a View not served')
  refusals.set(file.name, toRefusal(refused, countLocal(state), Date.now()))
}

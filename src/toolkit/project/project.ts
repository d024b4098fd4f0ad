/**
 * A project: Views as files that people edit, and their history. Each method takes the lock of the project for as long as it
 * changes something, so that several processes may work on one.
 */
import { join } from 'node:path'
import { didYouMean, nearestName } from '../../did-you-mean.ts'
import { ServiceError } from '../../errors.ts'
import type { Terminal } from '../cli/terminal.ts'
import {
  type Deployment,
  readDeployments,
  withDeployment,
  writeDeployments,
} from './deployments.ts'
import { findProject, newSettings, settingsName } from './find-project.ts'
import { createHistory, discard, type History } from './history.ts'
import { checkViewName, isViewName } from './names.ts'
import { clearDrafts, listFolder, type ProjectPlaces, writeProjectFile } from './project-files.ts'
import { withProjectLock } from './project-lock.ts'
import type { ProjectView, ProjectWire, ViewDraft } from './project-view.ts'
import type { Revision } from './revision.ts'
import {
  absorb,
  append,
  createFirst,
  loadSettled,
  putBackLost,
  restore,
  type ViewKeeper,
} from './view-changes.ts'
import { keptWireOf } from './view-wire.ts'
import { hasWorkingFiles, removeUnlisted, viewFolder } from './working-files.ts'

/** The Views of a folder. Every method throws `TOOLKIT_VIEW_MISSING` for a name that there is none of. */
export interface Project {
  /** Absolute: what paths in `view.yaml` start from. */
  readonly folder: string
  /** False in the home folder, which is used where there is no project. */
  readonly isProject: boolean
  /** Sorted. */
  names(): Promise<readonly string[]>
  /** What the files say; where they were edited, that is the next revision. */
  load(name: string): Promise<ProjectView>
  /**
   * The wire bytes, made once for each content and kept, since another Zstandard would change the IDs.
   * @throws ServiceError `TOOLKIT_VIEW_INCOMPLETE` without query or SDL; `VIEWS_TOO_LARGE`
   */
  wire(name: string): Promise<ProjectWire>
  /** @throws ServiceError `TOOLKIT_VIEW_EXISTS` */
  create(name: string, draft: ViewDraft, cause: string): Promise<ProjectView>
  /** Makes the next revision; `change` gets the View as it is and may refuse by throwing. */
  change(
    name: string,
    cause: string,
    change: (view: ProjectView) => ViewDraft,
  ): Promise<ProjectView>
  /** Writes modules of lenses again that are lost and that the last revision has. */
  putBackLenses(name: string): Promise<void>
  /**
   * Makes a revision with the content of another: the given one, or the one before the present. Files that cannot be read are
   * first written again as the present revision has them, and without a given one that is all.
   * @throws ServiceError `TOOLKIT_REVISION_MISSING`
   */
  rollback(name: string, revision: number | null): Promise<{ view: ProjectView; restored: number }>
  /** Oldest first; what was edited after the last `load` is not among them. */
  revisions(name: string): Promise<readonly Revision[]>
  /** Removes the View, its history and the modules that only it had. */
  delete(name: string): Promise<void>
  /** Oldest first. */
  deployments(): Promise<readonly Deployment[]>
  addDeployment(deployment: Deployment): Promise<void>
}

/** The project that the terminal stands in, else the home folder. @throws ServiceError `TOOLKIT_PROJECT_UNREADABLE` */
export async function openProject(terminal: Terminal): Promise<Project> {
  return projectAt(await findProject(terminal), terminal.signal)
}

/** Makes the folder a project; harmless where it is one. Returns whether it was none. */
export async function initProject({ cwd, signal }: Terminal): Promise<boolean> {
  const settingsFile = join(cwd, settingsName)
  const places = { folder: cwd, history: join(cwd, '.viewmesh'), settingsFile }
  return withProjectLock(places, signal, async () => {
    if ((await listFolder(places, cwd)).includes(settingsName)) return false
    await writeProjectFile(places, settingsFile, newSettings)
    return true
  })
}

function projectAt(places: ProjectPlaces, signal: AbortSignal): Project {
  const history = createHistory(places)
  const keeper: ViewKeeper = { places, history }
  const locked = <T>(action: () => Promise<T>): Promise<T> =>
    withProjectLock(places, signal, async () => {
      await clearDrafts(places)
      return action()
    })
  const names = async (): Promise<readonly string[]> =>
    (await listFolder(places, join(places.folder, 'views')))
      .filter((name) => isViewName(name) && hasWorkingFiles(places, name))
      .sort()
  const require = async (name: string): Promise<void> => {
    checkViewName(name)
    if (!hasWorkingFiles(places, name)) throw missing(name, await names())
  }
  const ofView =
    <A extends readonly unknown[], T>(action: (name: string, ...rest: A) => Promise<T>) =>
    async (name: string, ...rest: A): Promise<T> => {
      await require(name)
      return action(name, ...rest)
    }
  const load = async (name: string): Promise<ProjectView> =>
    (await loadSettled(keeper, name)) ?? (await locked(() => absorb(keeper, name)))
  return {
    folder: places.folder,
    isProject: places.settingsFile !== null,
    names,
    load: ofView(load),
    wire: ofView(async (name) => keptWireOf(history, await load(name), locked)),
    async create(name, draft, cause) {
      checkViewName(name)
      return locked(async () => {
        const taken = (await names()).find((each) => each.toLowerCase() === name.toLowerCase())
        if (taken !== undefined) throw exists(taken)
        return createFirst(keeper, name, draft, cause)
      })
    },
    change: ofView((name, cause: string, change: (view: ProjectView) => ViewDraft) =>
      locked(async () => append(keeper, name, change(await absorb(keeper, name)), cause)),
    ),
    putBackLenses: ofView((name) => locked(() => putBackLost(keeper, name))),
    rollback: ofView((name, revision: number | null) =>
      locked(() => restore(keeper, name, revision)),
    ),
    revisions: ofView((name) => allRevisions(history, name)),
    delete: ofView((name) => locked(() => deleteView(keeper, name))),
    deployments: () => readDeployments(places),
    addDeployment: (deployment) =>
      locked(async () =>
        writeDeployments(places, withDeployment(await readDeployments(places), deployment)),
      ),
  }
}

async function allRevisions(history: History, name: string): Promise<Revision[]> {
  const numbers = await history.revisions(name)
  return Promise.all(numbers.map((revision) => history.readRevision(name, revision)))
}

/** The folder goes first: what a kill leaves of the rest belongs to no View, and goes with the next one of that name. */
async function deleteView({ places, history }: ViewKeeper, name: string): Promise<void> {
  await discard(places, viewFolder(places, name))
  await removeUnlisted(places, name, { listed: [], history })
  await history.remove(name)
  await history.dropModules()
}

function missing(name: string, names: readonly string[]): ServiceError {
  const meant = didYouMean(nearestName(name, names))
  return new ServiceError('TOOLKIT_VIEW_MISSING', `view '${name}' does not exist${meant}`, {
    remedy: 'viewmesh view list shows the Views of this project.',
  })
}

function exists(name: string): ServiceError {
  return new ServiceError('TOOLKIT_VIEW_EXISTS', `view '${name}' already exists`, {
    remedy: 'Choose another name, or change that one; names differ by more than case.',
  })
}

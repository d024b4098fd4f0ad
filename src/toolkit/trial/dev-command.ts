/** `view dev`: tests a View whenever its files change, and keeps it deployed to a Host as it is. */
import { rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ServiceError } from '../../errors.ts'
import { noSender, viewIDs } from '../../views/view-id.ts'
import { exitCodeOf } from '../cli/exit-code.ts'
import { parseHostUrl } from '../cli/http-url.ts'
import { boundedFailure, remark } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { viewIDsText } from '../cli/view-ids-text.ts'
import { readAdminToken } from '../host-api/admin-token.ts'
import type { HostAddress } from '../host-api/host-request.ts'
import { remarkWarnings } from '../host-api/host-warnings.ts'
import { postView, removePostedView } from '../host-api/posted-view.ts'
import { hostEndpoint } from '../project/endpoint.ts'
import { openProject, type Project } from '../project/project.ts'
import type { ProjectWire } from '../project/project-view.ts'
import { devNotePath, readDevNote, writeDevNote } from './dev-note.ts'
import { checkBlockFlags, printReport, type TestFlags, testOnce } from './test-command.ts'
import { openFolderWatch } from './watch-folders.ts'

export interface DevFlags extends TestFlags {
  readonly host?: string
  readonly adminTokenFile?: string
}

interface Dev {
  readonly terminal: Terminal
  readonly project: Project
  readonly name: string
  readonly flags: DevFlags
  /** Null where it is not deployed. */
  readonly host: HostAddress | null
  /** The wire bytes that were tested last, base64, and how that went. */
  tested: { readonly bytes: string; readonly passed: boolean } | null
  /** Those that the Host took last; others than the tested ones while it is away. */
  deployed: string | null
  /** The former version, which the Host has no longer, until it takes another one. */
  removed: Uint8Array | null
  /** The failure that was shown last, null since the last change: trying again shows none twice. */
  shown: string | null
}

/** After so many milliseconds a Host that was away is tried again. */
const retryMs = 2_000

const fresh = { tested: null, deployed: null, removed: null, shown: null }

/** Runs until it is interrupted. */
export async function developView(
  terminal: Terminal,
  name: string,
  flags: DevFlags,
): Promise<void> {
  checkBlockFlags(flags)
  const url = flags.host === undefined ? null : parseHostUrl('--host', flags.host)
  const project = await openProject(terminal)
  const token = await readAdminToken(terminal, flags.adminTokenFile)
  const host = url === null ? null : { url, token }
  const dev: Dev = { terminal, project, name, flags, host, ...fresh }
  await requireView(project, name)
  const watch = openFolderWatch(terminal.signal)
  try {
    for (let isChanged = true; ; ) {
      for (const folder of await foldersOf(dev)) watch.add(folder)
      const outcome = await step(dev, isChanged)
      isChanged = await watch.changed(outcome === 'again' ? retryMs : undefined)
    }
  } finally {
    watch.close()
  }
}

/** A name that was mistyped comes with no change of files; what else is wrong the test says. */
async function requireView(project: Project, name: string): Promise<void> {
  try {
    await project.load(name)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (error.code === 'TOOLKIT_VIEW_MISSING' || exitCodeOf(error) === 2) throw error
  }
}

/** Where something may change that the test depends on. */
async function foldersOf({ terminal, project, name, flags }: Dev): Promise<string[]> {
  const files = [flags.fixture, flags.expect].filter((file) => file !== undefined)
  const given = files.map((file) => dirname(resolve(terminal.cwd, file)))
  const own = [join(project.folder, 'views', name), join(project.folder, 'lenses')]
  try {
    const { lenses } = await project.load(name)
    return [...own, ...given, ...lenses.map(({ path }) => dirname(path))]
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    // What is wrong with it the test says.
    return [...own, ...given]
  }
}

/** Tests and deploys what is to be; `again` where something was away that may come back without a change of files. */
async function step(dev: Dev, isChanged: boolean): Promise<'done' | 'again'> {
  const { terminal } = dev
  if (isChanged) dev.shown = null
  try {
    if (await testAndDeploy(dev, isChanged)) remark(terminal, waiting)
    return 'done'
  } catch (error) {
    if (terminal.signal.aborted || !(error instanceof ServiceError)) throw error
    const text = boundedFailure(error)
    if (text !== dev.shown) remark(terminal, `${text}\n${waiting}`)
    dev.shown = text
    return exitCodeOf(error) === 3 ? 'again' : 'done'
  }
}

const waiting = 'waiting for changes (Ctrl-C ends this)'

/** Tests the View where it is another one than before, and deploys it where it passed. Returns whether it did either. */
async function testAndDeploy(dev: Dev, isChanged: boolean): Promise<boolean> {
  const { terminal, project, name, flags, host } = dev
  const made = await project.wire(name)
  const bytes = Buffer.from(made.wire).toString('base64')
  const dependsOnFiles = flags.fixture !== undefined || flags.expect !== undefined
  const isTested = bytes === dev.tested?.bytes && !(dependsOnFiles && isChanged)
  if (!isTested) {
    const report = await testOnce(terminal, { name, ...made }, flags)
    dev.tested = { bytes, passed: report.passed }
    printReport(terminal, report, flags)
  }
  const isDeployed = host === null || dev.tested?.passed !== true || bytes === dev.deployed
  if (!isDeployed) {
    await deploy(dev, host, made)
    dev.deployed = bytes
  }
  return !(isTested && isDeployed)
}

/**
 * The former deployment goes first, so that the new one has its name, and comes back where the new one is refused. It may be
 * of an earlier run, and is of this command alone: the list of the project may come from a stranger, with versions that are
 * what others posted here.
 */
async function deploy(dev: Dev, host: HostAddress, { wire, revision }: ProjectWire): Promise<void> {
  const { terminal, project, name } = dev
  const endpoint = hostEndpoint(host.url)
  const { id } = viewIDs(noSender, wire)
  const note = devNotePath(terminal, { folder: project.folder, name, endpoint })
  const former = readDevNote(note)
  dev.deployed = null
  if (former !== null && former.id !== id) {
    await removePostedView(host, former.id, notInterrupted)
    dev.removed = former.wire
    rmSync(note, { force: true })
  }
  const { report, isNew } = await postOrPutBack(dev, host, wire, note)
  dev.removed = null
  if (isNew) writeDevNote(note, report.id, wire)
  if (former?.id !== report.id)
    await project.addDeployment({
      ...{ view: name, revision, target: 'local', at: new Date().toISOString() },
      ...{ id: report.id, address: report.address, creator: noSender, endpoint },
      ...{ transaction: null, chainId: null, state: 'registered' },
    })
  const what = isNew ? `deployed as ${report.name ?? report.state}` : 'collection already exists'
  remark(terminal, `${what}: ${viewIDsText(report)}`)
  remarkWarnings(terminal, report.warnings)
}

/** Between removing and posting Ctrl-C waits, so that a version stays; requests have bounds of their own. */
const notInterrupted = new AbortController().signal

/** A Host that is away is asked again later; one that refuses gets the former version back. */
async function postOrPutBack(
  dev: Dev,
  host: HostAddress,
  wire: Uint8Array,
  note: string,
): ReturnType<typeof postView> {
  const signal = dev.removed === null ? dev.terminal.signal : notInterrupted
  try {
    return await postView(host, wire, signal)
  } catch (error) {
    if (error instanceof ServiceError && exitCodeOf(error) !== 3) await putBack(dev, host, note)
    throw error
  }
}

/** That it fails is said beside the refusal, which is what is to be mended. */
async function putBack(dev: Dev, host: HostAddress, note: string): Promise<void> {
  const { terminal, removed } = dev
  if (removed === null) return
  try {
    const { report, isNew } = await postView(host, removed, notInterrupted)
    if (isNew) writeDevNote(note, report.id, removed)
    dev.removed = null
    remark(
      terminal,
      `the former version is deployed again as ${report.name ?? report.state}: ${viewIDsText(report)}`,
    )
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    remark(terminal, `the former version could not be deployed again: ${error.message}`)
  }
}

/** `view dev`: tests a View whenever its files change, and keeps it deployed to a Host as it is. */
import { dirname, join, resolve } from 'node:path'
import { ServiceError } from '../../errors.ts'
import { failureText } from '../../service/failure-text.ts'
import { noSender, viewIDs } from '../../views/view-id.ts'
import { remark } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { readAdminToken } from '../host-api/admin-token.ts'
import type { HostAddress } from '../host-api/host-request.ts'
import { postView, removePostedView } from '../host-api/posted-view.ts'
import type { Deployment } from '../project/deployments.ts'
import { openProject, type Project } from '../project/project.ts'
import type { ProjectWire } from '../project/project-view.ts'
import { printReport, type TestFlags, testOnce } from './test-command.ts'
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
  /** The wire bytes that were tested last, base64. */
  tested: string | null
}

/** Runs until it is interrupted. */
export async function developView(
  terminal: Terminal,
  name: string,
  flags: DevFlags,
): Promise<void> {
  const project = await openProject(terminal)
  const token = readAdminToken(terminal, flags.adminTokenFile)
  const host = flags.host === undefined ? null : { url: flags.host, token }
  const dev: Dev = { terminal, project, name, flags, host, tested: null }
  const watch = openFolderWatch(terminal.signal)
  try {
    for (;;) {
      for (const folder of await foldersOf(dev)) watch.add(folder)
      await step(dev)
      await watch.changed()
    }
  } finally {
    watch.close()
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
  } catch {
    // What is wrong with it the test says.
    return [...own, ...given]
  }
}

/** Tests the View where it is another one than before, and deploys it where it passes. */
async function step(dev: Dev): Promise<void> {
  const { terminal, project, name, flags, host } = dev
  try {
    const made = await project.wire(name)
    const bytes = Buffer.from(made.wire).toString('base64')
    const dependsOnFiles = flags.fixture !== undefined || flags.expect !== undefined
    if (bytes === dev.tested && !dependsOnFiles) return
    const isChanged = bytes !== dev.tested
    dev.tested = bytes
    const report = await testOnce(project, terminal, name, flags)
    printReport(terminal, report, flags)
    if (report.passed && isChanged && host !== null) await deploy(dev, host, made)
    remark(terminal, 'waiting for changes (Ctrl-C ends this)')
  } catch (error) {
    if (terminal.signal.aborted || !(error instanceof ServiceError)) throw error
    remark(terminal, failureText(error))
    remark(terminal, 'waiting for changes (Ctrl-C ends this)')
  }
}

/** The list of deployments may come from a stranger and name any View of this Host, so its ID has to follow from a version. */
async function isOfProject(project: Project, { view, revision, id }: Deployment): Promise<boolean> {
  const wire = await project.keptWire(view, revision)
  return wire !== null && viewIDs(noSender, wire).id === id
}

/** The former deployment goes first, so that the new one has its name. It may be of an earlier run of a command. */
async function deploy(
  { terminal, project, name }: Dev,
  host: HostAddress,
  { wire, revision }: ProjectWire,
): Promise<void> {
  const endpoint = new URL(host.url).origin
  const { id } = viewIDs(noSender, wire)
  const former = (await project.deployments()).findLast(
    (each) => each.view === name && each.target === 'local' && each.endpoint === endpoint,
  )
  if (former !== undefined && former.id !== id && (await isOfProject(project, former)))
    await removePostedView(host, former.id, terminal.signal)
  const { report, isNew } = await postView(host, wire, terminal.signal)
  if (former?.id !== report.id)
    await project.addDeployment({
      ...{ view: name, revision, target: 'local', at: new Date().toISOString() },
      ...{ id: report.id, address: report.address, creator: noSender, endpoint },
      ...{ transaction: null, chainId: null, state: 'registered' },
    })
  const what = isNew ? `deployed as ${report.name}` : 'collection already exists'
  remark(terminal, `${what}: ${report.id}`)
}

/** Where a project is: the nearest folder upwards with a `viewmesh.yaml`, else `.viewmesh` in the home folder. */
import { existsSync, lstatSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { ServiceError } from '../../errors.ts'
import { onOneLine } from '../../one-line.ts'
import { readBoundedFile } from '../../read-bounded.ts'
import type { Terminal } from '../cli/terminal.ts'
import type { ProjectPlaces } from './project-files.ts'
import { parseProjectYaml } from './project-yaml.ts'

/** The file that makes a folder a project. */
export const settingsName = 'viewmesh.yaml'

/** What `view init` writes into it. */
export const newSettings = `# A Viewmesh project: Views are in views/, modules of lenses in lenses/, their history in .viewmesh/.
version: 1
`

/** @throws ServiceError `TOOLKIT_PROJECT_UNREADABLE` where the file is of another version or of another user. */
export async function findProject({ cwd, homeFolder }: Terminal): Promise<ProjectPlaces> {
  const folder = findUpwards(cwd)
  if (folder === null) {
    const home = join(homeFolder, '.viewmesh')
    return { folder: home, history: join(home, 'history'), settingsFile: null }
  }
  const settingsFile = join(folder, settingsName)
  checkOwner(settingsFile)
  // A pipe would have every command wait for whoever writes into it.
  if (!statSync(settingsFile).isFile()) throw unreadable(settingsFile, 'is not a file')
  await checkSettings(settingsFile)
  return { folder, history: join(folder, '.viewmesh'), settingsFile }
}

function findUpwards(folder: string): string | null {
  if (existsSync(join(folder, settingsName))) return folder
  return dirname(folder) === folder ? null : findUpwards(dirname(folder))
}

const maxSettingsBytes = 65_536
const maxShownCharacters = 40

async function checkSettings(path: string): Promise<void> {
  let settings: unknown
  try {
    settings = parseProjectYaml((await readBoundedFile(path, maxSettingsBytes)).toString())
  } catch (cause) {
    throw unreadable(path, 'cannot be read', cause)
  }
  const version = (settings as { version?: unknown } | null)?.version
  if (version === 1) return
  const shown = onOneLine(JSON.stringify(version) ?? 'none', maxShownCharacters)
  throw unreadable(path, `has the version ${shown}, only 1 is known`)
}

/** In a folder that everyone may write to, as /tmp is, somebody else's file would make all folders below it his project. */
function checkOwner(path: string): void {
  const owner = lstatSync(path).uid
  const user = process.getuid?.() ?? owner
  if (owner === user || owner === 0) return
  throw new ServiceError('TOOLKIT_PROJECT_UNREADABLE', `${path} belongs to another user`, {
    facts: { owner, user },
    remedy:
      'Work in a folder that is not below it; where you trust the project, copy it or chown it to you.',
  })
}

function unreadable(path: string, what: string, cause?: unknown): ServiceError {
  return new ServiceError('TOOLKIT_PROJECT_UNREADABLE', `${path} ${what}`, {
    remedy: 'The line "version: 1" is all that it needs.',
    cause,
  })
}

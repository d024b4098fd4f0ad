/** Where a lens comes from: a file, or the Web. */
import { realpathSync, statSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { ServiceError } from '../../errors.ts'
import { checkModules } from '../../lens/view-modules.ts'
import { readBoundedFile } from '../../read-bounded.ts'
import { viewLimits } from '../../views/view.ts'
import { checkSize } from '../../views/wire-reader.ts'
import { usageError } from '../cli/exit-code.ts'
import type { Terminal } from '../cli/terminal.ts'
import type { Project } from '../project/project.ts'

/** As it was typed. */
export interface LensSource {
  readonly path?: string
  readonly url?: string
  readonly sha256?: string
}

interface SourcedModule {
  readonly wasm: Uint8Array
  /** The file itself, where it is what a lens project within this one builds: building again is then a new version. */
  readonly path?: string
}

/** @throws ServiceError `TOOLKIT_USAGE_INVALID` without a source or with two; what reading and checking it throws. */
export async function readLensSource(
  terminal: Terminal,
  project: Project,
  { path, url, sha256 }: LensSource,
): Promise<SourcedModule> {
  if ((path === undefined) === (url === undefined))
    throw usageError(
      path === undefined
        ? 'either --path or --url must be provided'
        : 'either --path or --url must be provided, not both',
      '--path takes a file of WebAssembly, --url an address on the Web.',
    )
  if (sha256 !== undefined && url === undefined)
    throw usageError('--sha256 is for --url', 'Leave it out: the file is here already.')
  const found =
    url === undefined
      ? await readModule(terminal, project, path ?? '')
      : { wasm: await (await import('./download.ts')).downloadLens(terminal, url, sha256) }
  checkModules([found])
  return found
}

async function readModule(
  { cwd }: Terminal,
  project: Project,
  typed: string,
): Promise<SourcedModule> {
  const path = resolve(cwd, typed)
  try {
    checkSize('the module', statSync(path).size, viewLimits.blob)
    const wasm = new Uint8Array(await readBoundedFile(path, viewLimits.blob))
    return isBuiltHere(project, path) ? { wasm, path } : { wasm }
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    throw new ServiceError('TOOLKIT_INPUT_UNREADABLE', `the lens ${typed} cannot be read`, {
      facts: { path },
      remedy: 'Name a file of WebAssembly that is there; viewmesh lens build makes one.',
      cause,
    })
  }
}

/** Whether it lies in a folder of its own below `lenses`; what lies right in there is ours to write. */
function isBuiltHere({ folder, isProject }: Project, path: string): boolean {
  if (!isProject || !path.startsWith(`${folder}${sep}`)) return false
  const parts = relative(realpathSync(folder), realpathSync(path)).split(sep)
  return parts[0] === 'lenses' && parts.length > 2
}

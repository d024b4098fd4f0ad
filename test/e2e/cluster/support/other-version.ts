/**
 * The sources of another version than this checkout's, in a folder of their own: those of a commit, or
 * `next`, a copy that differs in everything in which one release may differ from the one before.
 */
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repository } from '../../../support/repository.ts'

const run = promisify(execFile)

/** What `next` has more than this checkout. */
export const inNext = {
  version: '99.0.0',
  /** A field that every spec has, with its default. */
  field: { name: 'addedByNext', value: true },
  /** On each Service, where a new version may write it at once. */
  serviceAnnotation: 'viewmesh.io/service-of-next',
  /** On pods, where it has to wait until somebody asks for it. */
  podAnnotation: 'viewmesh.io/pod-of-next',
} as const

/** Writes them; who asked removes the folder. Throws where git has no such commit. */
export async function writeVersion(version: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'viewmesh-version-'))
  try {
    await (version === 'next' ? writeNext(folder) : writeCommit(version, folder))
  } catch (error) {
    rmSync(folder, { recursive: true })
    throw error
  }
  return folder
}

async function writeCommit(commit: string, folder: string): Promise<void> {
  const archive = join(folder, 'archive.tar')
  await run('git', ['archive', '--output', archive, commit], { cwd: repository })
  await run('tar', ['-xf', archive, '-C', folder])
  rmSync(archive)
}

async function writeNext(folder: string): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '-z'], { cwd: repository })
  for (const path of stdout.split('\0')) {
    if (path === '' || !existsSync(join(repository, path))) continue
    mkdirSync(join(folder, path, '..'), { recursive: true })
    cpSync(join(repository, path), join(folder, path), { recursive: true, verbatimSymlinks: true })
  }
  const { version } = JSON.parse(readFileSync(`${repository}/package.json`, 'utf8'))
  for (const change of changesAfter(version)) makeChange(folder, change)
  // The packages are for this command only: the folder of an image's build is sent without them.
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
  await run(process.execPath, ['test/generate/main.ts'], { cwd: folder })
  rmSync(join(folder, 'node_modules'))
}

interface Change {
  readonly file: string
  /** What is there exactly once. */
  readonly from: string
  readonly to: string
}

function changesAfter(version: string): readonly Change[] {
  const { field, podAnnotation, serviceAnnotation, version: next } = inNext
  const pausedField = '  readonly paused: boolean\n'
  return [
    { file: 'package.json', from: `"version": "${version}"`, to: `"version": "${next}"` },
    {
      file: 'charts/operator/Chart.yaml',
      from: `\nversion: ${version}\nappVersion: ${version}\n`,
      to: `\nversion: ${next}\nappVersion: ${next}\n`,
    },
    {
      file: 'operator/api/common-spec.ts',
      from: pausedField,
      to: `${pausedField}  /**\n   * Tells one version from the next.\n   * @default ${field.value}\n   */\n  readonly ${field.name}: boolean\n`,
    },
    {
      file: 'operator/resources/pod/pod-template.ts',
      from: "    'kubectl.kubernetes.io/default-container': programOf(resource),\n",
      to: `    'kubectl.kubernetes.io/default-container': programOf(resource),\n    '${podAnnotation}': 'yes',\n`,
    },
    {
      file: 'operator/resources/objects/services.ts',
      from: 'childMetadata(resource, name, { annotations })',
      to: `childMetadata(resource, name, { annotations: { ...annotations, '${serviceAnnotation}': 'yes' } })`,
    },
  ]
}

/** Throws where the text is not there, or more than once: the change would be another one than is meant. */
function makeChange(folder: string, { file, from, to }: Change): void {
  const path = join(folder, file)
  const parts = readFileSync(path, 'utf8').split(from)
  const found = parts.length - 1
  if (found !== 1) throw new Error(`${file} has ${JSON.stringify(from)} ${found} times, not once`)
  writeFileSync(path, parts.join(to))
}

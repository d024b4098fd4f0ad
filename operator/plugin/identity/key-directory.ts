/**
 * The key file on a volume, read and written by a container that has it mounted. All there is in every image
 * is Node, so that is what runs there. Contents pass through standard input and output alone: no argument and
 * no log has them.
 */
import { ServiceError } from '../../../src/errors.ts'
import type { ProgramName } from '../../../src/service/contract.ts'
import { keysPath } from '../../resources/names/paths.ts'
import type { ContainerAddress, ContainerExec } from '../cluster/exec.ts'

const isMissing = 44
const isTaken = 45

function readProgram(path: string): string {
  return `
const fs = require('node:fs')
try {
  process.stdout.write(fs.readFileSync(${JSON.stringify(path)}))
} catch (error) {
  if (error.code !== 'ENOENT') throw error
  process.exitCode = ${isMissing}
}`
}

/** A hard link, unlike a rename, replaces nothing; where there are none, the file is copied to its name. */
function writeProgram(path: string, bytes: number): string {
  return `
const fs = require('node:fs')
const path = ${JSON.stringify(path)}
const pieces = []
let read = 0
process.stdin.on('data', (piece) => {
  pieces.push(piece)
  read += piece.length
  if (read < ${bytes}) return
  process.stdin.destroy()
  const draft = path + '.' + process.pid + '.draft'
  fs.writeFileSync(draft, Buffer.concat(pieces), { flag: 'wx', mode: 0o600, flush: true })
  try {
    try {
      fs.linkSync(draft, path)
    } catch (error) {
      if (error.code === 'EEXIST') throw error
      fs.copyFileSync(draft, path, fs.constants.COPYFILE_EXCL)
    }
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    process.exitCode = ${isTaken}
  } finally {
    fs.unlinkSync(draft)
  }
})`
}

/** The text of a program's key file; null where there is none yet. Throws PLUGIN_KEYS_UNREADABLE. */
export async function fetchKeyFile(
  exec: ContainerExec,
  container: ContainerAddress,
  program: ProgramName,
  signal?: AbortSignal,
  directory: string = keysPath,
): Promise<string | null> {
  const command = ['node', '-e', readProgram(`${directory}/${program}.json`)]
  const { exitCode, stdout, stderr } = await exec(container, command, { signal })
  if (exitCode === isMissing) return null
  if (exitCode === 0) return stdout
  throw failed(container, 'read', stderr)
}

/** Writes it where there is none. Throws PLUGIN_IDENTITY_CONFLICT where there is one meanwhile. */
export async function placeKeyFile(
  exec: ContainerExec,
  container: ContainerAddress,
  { program, text }: { readonly program: ProgramName; readonly text: string },
  signal?: AbortSignal,
  directory: string = keysPath,
): Promise<void> {
  const path = `${directory}/${program}.json`
  const command = ['node', '-e', writeProgram(path, Buffer.byteLength(text))]
  const { exitCode, stderr } = await exec(container, command, { stdin: text, signal })
  if (exitCode === 0) return
  if (exitCode !== isTaken) throw failed(container, 'written', stderr)
  throw new ServiceError(
    'PLUGIN_IDENTITY_CONFLICT',
    `${path} was written by something else just now`,
    {
      remedy: 'Find out which pod uses this claim; nothing was written over.',
    },
  )
}

function failed({ namespace, pod }: ContainerAddress, what: string, stderr: string): ServiceError {
  const said = stderr.split('\n').find((line) => /Error/.test(line)) ?? stderr.slice(0, 300)
  return new ServiceError(
    'PLUGIN_KEYS_UNREADABLE',
    `the key file cannot be ${what} in pod ${namespace}/${pod}: ${said.trim()}`,
    { remedy: 'See the pod and its volume with kubectl describe, and try again.' },
  )
}

/** Runs commands as pages show them, in a namespace of the tests. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { repository } from '../../../support/repository.ts'

const run = promisify(execFile)

/**
 * Runs a line with kubectl in this namespace, whichever it names, and returns what it prints. Throws where it
 * fails. Files are looked for in `folder`, by default the repository.
 */
export async function runShown(
  line: string,
  namespace: string,
  folder: string = repository,
): Promise<string> {
  const own = `--namespace ${namespace}`
  const named = line
    .replaceAll(/--namespace [\w-]+|--all-namespaces|-A(?= )/g, own)
    .replace('/namespaces/default/', `/namespaces/${namespace}/`)
  const command = named.includes(own) ? named : named.replace('kubectl ', `kubectl ${own} `)
  const { stdout } = await run('sh', ['-ec', command], { cwd: folder })
  return stdout
}

/** A process that prepares the directory of all development chains, not as root, and prints its failure as JSON. */
import { prepareRoot } from '../../../src/devnet/chain-folder.ts'
import { toPlainError } from '../../../src/plain-error.ts'
import { leaveRoot } from '../../support/other-user/leave-root.ts'

const [path = ''] = process.argv.slice(2)
leaveRoot()
try {
  prepareRoot(path)
  process.stdout.write('{}')
} catch (error) {
  process.stdout.write(JSON.stringify(toPlainError(error)))
}

/** A process that opens the Host's identity in the given directory, not as root, and prints its failure as JSON. */
import { openIdentity } from '../../../src/identity/identity.ts'
import { toPlainError } from '../../../src/plain-error.ts'
import { leaveRoot } from '../../support/other-user/leave-root.ts'

const [keyPath = ''] = process.argv.slice(2)
leaveRoot()
try {
  await openIdentity({ keyPath, secret: 'secret', program: 'host' })
  process.stdout.write('{}')
} catch (error) {
  process.stdout.write(JSON.stringify(toPlainError(error)))
}

/** A process that opens the Host's identity in the given directory and prints its failure as JSON. */
import { openIdentity } from '../../src/identity/identity.ts'
import { toPlainError } from '../../src/service/plain-error.ts'

const [keyPath = ''] = process.argv.slice(2)
try {
  await openIdentity({ keyPath, secret: 'secret', program: 'host' })
  process.stdout.write('{}')
} catch (error) {
  process.stdout.write(JSON.stringify(toPlainError(error)))
}

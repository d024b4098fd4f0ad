/** A development registry in a process of its own, for a test that kills it: registers Views until then. */
import { openDevelopmentRegistry } from '../../../src/devnet/registry/development-registry.ts'
import { encodeView } from '../../../src/views/wire.ts'

const [folder = ''] = process.argv.slice(2)
const registry = await openDevelopmentRegistry({ folder, acknowledgeMs: null })
for (let n = 0; ; n++) {
  const wire = encodeView({ query: 'Log { address }', sdl: `type V${n} { x: Int }`, lenses: [] })
  const address = await registry.register(`0x${'33'.repeat(20)}`, wire)
  if (n % 2 === 0) await registry.settle({ registered: [address] })
  process.stdout.write(`${address}\n`)
}

/** A development registry in a process of its own, for a test that kills it and starts it again. */
import process from 'node:process'
import { openDevelopmentRegistry } from '../../../src/devnet/registry/development-registry.ts'

const [folder = '', ...ports] = process.argv.slice(2)
const [rpcPort = 0, lcdPort = 0, cometPort = 0] = ports.map(Number)
await openDevelopmentRegistry({ folder, rpcPort, lcdPort, cometPort })
process.stdout.write('open\n')

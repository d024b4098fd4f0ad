/** Start here: `kubectl viewmesh`. */
import process from 'node:process'
import { openClusterAccess } from './cluster/cluster-access.ts'
import { runCommandLine } from './command-line.ts'
import { createOutput } from './text/output.ts'

const { stdin, stdout, stderr } = process
const stop = new AbortController()
process.once('SIGINT', () => stop.abort())
process.once('SIGTERM', () => stop.abort())
// Whoever reads a pipe may have read enough.
stdout.on('error', () => process.exit(0))

process.exitCode = await runCommandLine(process.argv.slice(2), {
  open: openClusterAccess,
  output: createOutput({ stdout, stderr }),
  stdin,
  signal: stop.signal,
})

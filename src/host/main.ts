/** Start here: `viewmesh host`. The Host itself is loaded once its settings are known to be good. */
import process from 'node:process'
import { openLog } from '../service/log.ts'
import { type Running, runProgram } from '../service/run.ts'
import { loadHostSettings } from './config.ts'

/** Runs the Host until a signal or a failure; `argv` is what follows the command. */
export async function runHost(argv: readonly string[]): Promise<never> {
  return await runProgram({ name: 'host' }, (running) => start(argv, running))
}

async function start(argv: readonly string[], running: Running): Promise<void> {
  const loaded = loadHostSettings({ argv, env: process.env })
  const { logLevel: level, keyringSecret, schemaAuthToken, adminToken } = loaded.settings
  const secrets = [keyringSecret, schemaAuthToken, adminToken].filter((secret) => secret !== null)
  const log = openLog({ name: 'host', level, secrets })
  running.useLog(log)
  const { openHost } = await import('./host.ts')
  await openHost(loaded, { log, running, secrets, environment: process.env })
}

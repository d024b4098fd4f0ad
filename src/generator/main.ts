/** Start here: `viewmesh generator`. The libraries are loaded once the settings are known to be good. */
import process from 'node:process'
import { openLog } from '../service/log.ts'
import { type Running, runProgram } from '../service/run.ts'
import { loadGeneratorSettings } from './config.ts'

/** Runs the Generator until a signal or a failure; `argv` is what follows the command. */
export async function runGenerator(argv: readonly string[]): Promise<never> {
  return await runProgram({ name: 'generator' }, (running) => start(argv, running))
}

async function start(argv: readonly string[], running: Running): Promise<void> {
  const { settings, secretFiles } = loadGeneratorSettings({ argv, env: process.env })
  const { logLevel: level, keyringSecret, apiKey, schemaApiKeys } = settings
  const secrets = [keyringSecret, ...(apiKey === null ? [] : [apiKey]), ...schemaApiKeys]
  const log = openLog({ name: 'generator', level, secrets })
  running.useLog(log)
  const { openGenerator } = await import('./generator.ts')
  const options = { ...settings, schemaApiKeysFile: secretFiles.schemaApiKeys }
  await openGenerator(options, { log, running, secrets })
}

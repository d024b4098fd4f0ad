/** Starts the operator with the settings that flags and environment give. */
import { openLog } from '../src/service/log.ts'
import type { Running } from '../src/service/run.ts'
import { loadSettings } from '../src/service/settings/settings.ts'
import type { WriteGuard } from './runtime/client/requests.ts'
import { contradictions, operatorSettings } from './settings.ts'

interface OperatorStart {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Further guards of writes; the program itself has none. */
  readonly guards?: readonly WriteGuard[]
}

/** Resolves once the controllers work. Throws CONFIG_INVALID, or why the operator cannot be opened. */
export async function startOperator(
  running: Running,
  { argv, env, guards = [] }: OperatorStart,
): Promise<void> {
  const settings = loadSettings(operatorSettings, { argv, env }, { check: contradictions })
  const { logLevel, logFormat } = settings
  const log = openLog({
    name: 'operator',
    level: logLevel,
    ...(logFormat === null ? {} : { pretty: logFormat === 'text' }),
  })
  running.useLog(log)
  const { openOperator } = await import('./operator.ts')
  await openOperator(settings, {
    log,
    running,
    service: {
      host: env['KUBERNETES_SERVICE_HOST'] ?? null,
      port: env['KUBERNETES_SERVICE_PORT'] ?? null,
    },
    guards,
  })
}

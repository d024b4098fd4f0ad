/**
 * Start here: the operator. In a pod it needs GENERATOR_IMAGE and HOST_IMAGE only.
 *
 * OPERATOR_TEST_DIE_AT is for tests: the process ends by SIGKILL at the write it names, see `die-at.ts`.
 */
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { openLog } from '../src/service/log.ts'
import { type Running, runProgram } from '../src/service/run.ts'
import { helpText } from '../src/service/settings/help.ts'
import { loadSettings } from '../src/service/settings/settings.ts'
import { readVersion } from '../src/service/version.ts'
import type { WriteGuard } from './runtime/client/requests.ts'
import { dieAt } from './runtime/die-at.ts'
import { contradictions, operatorSettings } from './settings.ts'

// What lists and watches bring is garbage soon; left to itself V8 lets it pile up to several times what is
// kept. NODE_OPTIONS does not take this flag.
setFlagsFromString('--memory-saver-mode')

const argv = process.argv.slice(2)
const help = {
  command: 'viewmesh-operator',
  summary: 'Runs Generators and Hosts in a Kubernetes cluster.',
  width: process.stdout.columns ?? 100,
}

if (argv.some((flag) => ['--help', '-h'].includes(flag))) {
  process.stdout.write(helpText(help, operatorSettings))
} else if (argv.some((flag) => ['--version', '-V'].includes(flag))) {
  process.stdout.write(`${readVersion()}\n`)
} else {
  await runProgram({ name: 'operator' }, start)
}

async function start(running: Running): Promise<void> {
  const { env } = process
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
    guards: deadlyGuards(env['OPERATOR_TEST_DIE_AT']),
  })
}

function deadlyGuards(at: string | undefined): readonly WriteGuard[] {
  if (at === undefined || at === '') return []
  return [dieAt(at, () => process.kill(process.pid, 'SIGKILL'))]
}

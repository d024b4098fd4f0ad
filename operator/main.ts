/** Start here: the operator. In a pod it needs GENERATOR_IMAGE and HOST_IMAGE only. */
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runProgram } from '../src/service/run.ts'
import { helpText } from '../src/service/settings/help.ts'
import { readVersion } from '../src/service/version.ts'
import { operatorSettings } from './settings.ts'
import { startOperator } from './start-operator.ts'

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
  const { env } = process
  await runProgram({ name: 'operator' }, (running) => startOperator(running, { argv, env }))
}

/** The operator as `operator/main.ts` starts it, but that it ends by SIGKILL at the write that DIE_AT names; see `die-at.ts`. */
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { startOperator } from '../../../operator/start-operator.ts'
import { runProgram } from '../../../src/service/run.ts'
import { dieAt } from './die-at.ts'

setFlagsFromString('--memory-saver-mode')

const { env } = process
const guard = dieAt(env['DIE_AT'] ?? '', () => process.kill(process.pid, 'SIGKILL'))
await runProgram({ name: 'operator' }, (running) =>
  startOperator(running, { argv: [], env, guards: [guard] }),
)

/** A program for the tests of runProgram; its arguments choose what happens to it. */
import { ServiceError } from '../../../src/errors.ts'
import { openLog } from '../../../src/service/log.ts'
import { runProgram } from '../../../src/service/run.ts'

const modes = process.argv.slice(2)
const failure = new ServiceError('CONFIG_INVALID', 'the example is misconfigured', {
  facts: { setting: 'EXAMPLE' },
  remedy: 'Set EXAMPLE.',
  cause: new Error('it was not set'),
})

await runProgram({ name: 'example', stopTimeoutMs: 300 }, async (running) => {
  const log = openLog({ name: 'example', level: 'info', secrets: ['a-very-secret-value'] })
  if (modes.includes('fail-early')) throw failure
  running.useLog(log)
  setInterval(() => undefined, 1_000)
  if (modes.includes('open-never')) {
    log.info('opening')
    await new Promise(() => undefined)
  }
  for (const name of ['first', 'second', 'third']) {
    running.own(name, {
      async close() {
        if (modes.includes('hang') && name === 'second') await new Promise(() => undefined)
        if (modes.includes('fail-close') && name === 'second') throw failure
        log.info({ part: name }, 'closed')
      },
    })
    if (modes.includes('fail-open') && name === 'second') throw failure
  }
  if (modes.includes('open-slowly')) {
    log.info('opening')
    await new Promise((_, reject) => {
      running.signal.addEventListener('abort', () => reject(running.signal.reason))
    })
  }
  if (modes.includes('reject'))
    void Promise.reject(new Error('nobody waits for a-very-secret-value'))
  if (modes.includes('throw'))
    setImmediate(() => {
      throw failure
    })
  if (modes.includes('fail')) running.fail(failure)
  log.info('ready')
})

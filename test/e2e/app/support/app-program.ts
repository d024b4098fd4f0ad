/** An application as a program, so that it can be killed: `app-program.ts '{"path": ...}'` takes the options of `openApp`. */
import { openApp } from '../../../../src/app/app.ts'
import { openLog } from '../../../../src/service/log.ts'

const options = JSON.parse(process.argv[2] ?? '')
const log = openLog({ name: 'app', level: 'info' }, process.stderr)
const app = await openApp({ ...options, log })
process.stdout.write('open\n')
app.onChange(({ views: [view], hosts, bytes }) => {
  const { done, blocksPending } = view ?? {}
  const roles = hosts.map(({ role, error }) => error ?? role)
  log.info({ done, blocksPending, roles, bytes }, 'progress')
})

/** A log that nobody reads: commands print what they have to say. */
import type { Logger } from 'pino'
import { openLog } from '../../service/log.ts'

/** For parts that want a log. */
export function silentLog(): Logger {
  return openLog({ name: 'viewmesh', level: 'error', pretty: false }, { write: () => undefined })
}

/**
 * Ends the development chain with the npm that started it: SIGTERM for npm ends the shell between the two, which passes
 * nothing on. Ctrl-C reaches everybody by itself.
 */
import process from 'node:process'
import { setTimeout as delay, setInterval as every } from 'node:timers/promises'

const intervalMs = 250

/** Sends this process SIGTERM once its parent has gone, where that is `npm start`: any other parent may end before it. */
export async function followNpm(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  if (env['npm_lifecycle_event'] !== 'start') return
  const parent = process.ppid
  const options = { signal, ref: false }
  try {
    for await (const _ of every(intervalMs, undefined, options)) if (process.ppid !== parent) break
    // Ctrl-C ends the parent as well, and a second signal would force the end.
    await delay(intervalMs, undefined, options)
  } catch {
    // It stops already.
    return
  }
  process.kill(process.pid, 'SIGTERM')
}

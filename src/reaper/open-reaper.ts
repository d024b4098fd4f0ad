/** Children that end with their parent, also where that is killed and can end nobody itself. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Reaper {
  /** From now on the process with this id ends with this one. */
  watch(pid: number): void
  /** It has ended: another process may get its id. */
  forget(pid: number): void
  /** Ends what is still watched; resolves when the reaper has ended. */
  close(): Promise<void>
}

/** Starts it, in a process group of its own, so that no Ctrl-C reaches it. */
export function openReaper(): Reaper {
  const script = import.meta.url.endsWith('.ts') ? './reaper.ts' : './reaper.js'
  const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url))], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const ended = Promise.withResolvers<void>()
  child.once('exit', () => ended.resolve()).once('error', () => ended.resolve())
  child.stdin?.on('error', () => undefined)
  child.unref()
  const send = (line: string): void => void child.stdin?.write(`${line}\n`)
  return {
    watch: (pid) => send(`+${pid}`),
    forget: (pid) => send(`-${pid}`),
    async close() {
      child.ref()
      child.stdin?.end()
      await ended.promise
    },
  }
}

/** For preloads of programs that must not be honest: changes one place of one source file while it is loaded. */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

interface Alteration<Given, Made> {
  readonly file: URL
  /** Stands there exactly once. */
  readonly found: string
  /** Comes in its place, and may call `altered`. */
  readonly put: string
  readonly altered: (given: Given) => Made
}

/** Throws, and so ends the program, where the place is not there. */
export function alterSource<Given, Made>(alteration: Alteration<Given, Made>): void {
  const { file, found, put, altered } = alteration
  const parts = readFileSync(file, 'utf8').split(found)
  if (parts.length !== 2) throw new Error(`${file.pathname} has no single ${found}`)
  Object.assign(globalThis, { altered })
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context)
      return url === file.href ? { ...loaded, source: parts.join(put) } : loaded
    },
  })
}

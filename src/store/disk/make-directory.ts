/** Makes a directory with those above it, one level after the other. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes `path` where nothing exists yet; a file at that path is not an error here. Each level is tried
 * once: Node's own recursive option loops for ever where a file system takes no directories, as /proc
 * does. Throws what mkdir throws.
 */
export function makeDirectory(path: string, mode: number = 0o777): void {
  const problem = makeLevel(path, mode)
  if (problem === null) return
  if (problem.code !== 'ENOENT' || dirname(path) === path) throw problem
  makeDirectory(dirname(path), mode)
  const second = makeLevel(path, mode)
  if (second !== null) throw second
}

function makeLevel(path: string, mode: number): NodeJS.ErrnoException | null {
  try {
    mkdirSync(path, { mode })
    return null
  } catch (error) {
    const problem = error as NodeJS.ErrnoException
    return problem.code === 'EEXIST' ? null : problem
  }
}

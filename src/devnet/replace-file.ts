/** Writes a file that only its owner reads, and that is there whole: what it had, or this text. */
import { renameSync, writeFileSync } from 'node:fs'

export function replaceFile(path: string, text: string): void {
  const unfinished = `${path}.new`
  writeFileSync(unfinished, text, { mode: 0o600 })
  renameSync(unfinished, path)
}

/**
 * What `view dev` posted last, so that its next run removes that and nothing else. It is kept in the home folder: a project
 * may come from a stranger.
 */
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Terminal } from '../cli/terminal.ts'
import { sha256 } from '../project/view-content.ts'

interface Posted {
  /** Of the project. */
  readonly folder: string
  /** Of the View. */
  readonly name: string
  /** Of the Host. */
  readonly endpoint: string
}

/** Where that is noted of one View of a project and one Host. */
export function devNotePath(
  { homeFolder }: Pick<Terminal, 'homeFolder'>,
  { folder, name, endpoint }: Posted,
): string {
  const key = sha256(Buffer.from(JSON.stringify([realpathSync(folder), name, endpoint])))
  return join(homeFolder, '.viewmesh', 'dev', key)
}

/** The ID of the View; null where nothing is noted. */
export function readDevNote(path: string): string | null {
  const text = existsSync(path) ? readFileSync(path, 'utf8').trim() : ''
  return /^0x[0-9a-f]{64}$/.test(text) ? text : null
}

export function writeDevNote(path: string, id: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, `${id}\n`, { mode: 0o600 })
}

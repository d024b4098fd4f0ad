/**
 * What `view dev` posted last, so that its next run removes that and nothing else. It is kept in the home folder: a project
 * may come from a stranger.
 */
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
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

/** A View that was posted. */
interface DevNote {
  readonly id: string
  /** To post it again; null where an earlier version of this program noted the ID alone. */
  readonly wire: Uint8Array | null
}

/** Null where nothing is noted. */
export function readDevNote(path: string): DevNote | null {
  const text = existsSync(path) ? readFileSync(path, 'utf8').trim() : ''
  const [, id, base64] = /^(0x[0-9a-f]{64})(?:\n(\S+))?$/.exec(text) ?? []
  if (id === undefined) return null
  return { id, wire: base64 === undefined ? null : new Uint8Array(Buffer.from(base64, 'base64')) }
}

/** Whole, or not at all, also where another run writes it at the same time. */
export function writeDevNote(path: string, id: string, wire: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  const base64 = Buffer.from(wire).toString('base64')
  writeFileSync(draft, `${id}\n${base64}\n`, { mode: 0o600 })
  renameSync(draft, path)
}

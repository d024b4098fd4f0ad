/**
 * What a failure says of a directory that this process may not use: whose it is, who we are, and the
 * command that changes its owner. The key directory and the store's say it in the same words, and look for what exists
 * above them in the same way.
 */
import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import process from 'node:process'

/** Whether a system call failed because this process lacks a permission. */
export function isPermissionDenied(cause: unknown): boolean {
  const code = (cause as { code?: unknown } | null)?.code
  return code === 'EACCES' || code === 'EPERM'
}

/** Facts (`path`, `owner` and `user` as UID:GID) and remedy for a directory, or a file in it, that is denied. */
export function permissionDetails(directory: string): {
  readonly facts: Readonly<Record<string, string>>
  readonly remedy: string
} {
  const path = resolve(directory)
  const found = findNearest(path)
  const user = `${process.geteuid?.()}:${process.getegid?.()}`
  const owner = `${found.uid}:${found.gid}`
  const enter = found.isBarred ? `, let ${user} enter ${found.path}` : ''
  return {
    facts: { path, owner, user, ...(found.path !== path && { nearest: found.path }) },
    remedy: `Stop, change ownership of the data directories to ${user} (${commandFor(path, found, user)})${enter}, start.`,
  }
}

interface Nearest {
  /** The directory itself, or the nearest one above it that can be seen. */
  readonly path: string
  readonly uid: number
  readonly gid: number
  /** Whether what lies below cannot be seen, rather than is not there. */
  readonly isBarred: boolean
}

/** The path, or the nearest one above it where something is. Throws what stat throws, as where it may not look. */
export function nearestExisting(path: string): string {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined || dirname(path) === path) return path
  return nearestExisting(dirname(path))
}

function findNearest(path: string, isBarred: boolean = false): Nearest {
  try {
    const found = nearestExisting(path)
    const { uid, gid } = statSync(found)
    return { path: found, uid, gid, isBarred }
  } catch (cause) {
    return findNearest(dirname(path), isBarred || isPermissionDenied(cause))
  }
}

/** Ownership of a directory that is ours already is not what is missing in it. */
function commandFor(path: string, { path: nearest, uid, isBarred }: Nearest, user: string): string {
  const chown = `chown -R ${user} ${path}`
  if (nearest !== path) return isBarred ? chown : `mkdir -p ${path} && ${chown}`
  return uid === process.geteuid?.() ? `${chown} && chmod -R u+rwX ${path}` : chown
}

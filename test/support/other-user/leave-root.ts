/**
 * Another user than root, for tests of what that one may not do. A process becomes that user by itself, once it
 * has loaded its modules: the checkout, and the Node in it, may be readable by root alone.
 */
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

/** The user of the images, and its group. */
const uid = 1001

/** Whether this process is root, who may do everything. */
export const isRoot: boolean = process.getuid?.() === 0

/** Who a process is after `leaveRoot`, as UID:GID. */
export const otherUser: string = isRoot
  ? `${uid}:${uid}`
  : `${process.getuid?.()}:${process.getgid?.()}`

/** Makes this process that of user and group 1001 for good; one that is not root stays as it is. */
export function leaveRoot(): void {
  if (!isRoot) return
  process.setgroups?.([])
  process.setgid?.(uid)
  process.setuid?.(uid)
}

/** Lets everybody read a folder and what is in it, whatever the modes of the files that it was copied from. */
export function makeReadable(folder: string): void {
  const below = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  for (const path of [folder, ...below.map((name) => join(folder, name))]) {
    const stats = statSync(path)
    chmodSync(path, (stats.mode & 0o777) | (stats.isDirectory() ? 0o555 : 0o444))
  }
}

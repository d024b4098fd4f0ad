/** Files that are left open. */
import { readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'

const open = '/proc/self/fd'

/** The files of a folder that this program has open. */
export async function openFilesIn(folder: string): Promise<string[]> {
  const names = (await readdir(open)).map((fd) => readlink(join(open, fd)).catch(() => ''))
  return (await Promise.all(names)).filter((name) => name.startsWith(folder))
}

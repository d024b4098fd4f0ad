/** zsh and fish: those of the machine, else Debian's, unpacked below the user's cache folder and not installed. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const timeout = 60_000
/** What is not on every machine; without their scripts these shells complete nothing. */
const packages = {
  zsh: ['zsh', 'zsh-common'],
  fish: ['fish', 'fish-common', 'libpcre2-32-0'],
} as const

export type ShellName = keyof typeof packages

export interface FoundShell {
  readonly path: string
  /** Where it was unpacked; empty where the machine has it. */
  readonly root: string
}

/** The shell, or why it cannot be had on this machine. */
export async function findShell(
  name: ShellName,
): Promise<FoundShell | { readonly missing: string }> {
  const own = await run('sh', ['-c', `command -v ${name}`]).catch(() => null)
  if (own !== null) return { path: own.stdout.trim(), root: '' }
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'viewmesh')
  const root = join(cache, `debian-${name}`)
  const path = join(root, name === 'zsh' ? 'bin/zsh' : 'usr/bin/fish')
  try {
    if (!existsSync(path)) await unpack(name, cache, root)
    return { path, root }
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim().split('\n').at(-1) : String(error)
    return { missing: `NOT RUN: no ${name}, and Debian's cannot be had: ${reason}` }
  }
}

/** What is interrupted leaves nothing that is taken for the shell. */
async function unpack(name: ShellName, cache: string, root: string): Promise<void> {
  await mkdir(cache, { recursive: true })
  const draft = await mkdtemp(join(cache, 'unpack-'))
  try {
    await run('apt-get', ['download', ...packages[name]], { cwd: draft, timeout })
    const tree = join(draft, 'root')
    for (const file of await readdir(draft))
      if (file.endsWith('.deb')) await run('dpkg', ['-x', join(draft, file), tree], { timeout })
    await rm(root, { recursive: true, force: true })
    await rename(tree, root)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

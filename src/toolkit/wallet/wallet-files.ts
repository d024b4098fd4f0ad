/** Where wallets are: a keystore each in `~/.viewmesh/wallets`, for their owner alone, never written over. */
import { randomBytes } from 'node:crypto'
import { link, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '../../errors.ts'
import type { Terminal } from '../cli/terminal.ts'
import { readSmallFile } from './small-file.ts'

const namePattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** Path of a wallet, which need not exist. @throws ServiceError `TOOLKIT_USAGE_INVALID` */
export function walletPath({ homeFolder }: Terminal, name: string): string {
  if (!namePattern.test(name))
    throw new ServiceError(
      'TOOLKIT_USAGE_INVALID',
      `${JSON.stringify(name.slice(0, 100))} cannot be the name of a wallet`,
      { remedy: 'Use at most 64 letters, digits, - and _.' },
    )
  return join(homeFolder, '.viewmesh', 'wallets', `${name}.json`)
}

/** Text of a wallet. @throws ServiceError `TOOLKIT_WALLET_MISSING` */
export async function readWallet(terminal: Terminal, name: string): Promise<string> {
  const path = walletPath(terminal, name)
  const text = await readSmallFile(path)
  if (text !== null) return text
  throw new ServiceError('TOOLKIT_WALLET_MISSING', `there is no wallet ${path}`, {
    remedy: 'viewmesh wallet generate makes one, viewmesh wallet import takes over a key.',
  })
}

/** Writes a new wallet, whole or not at all. @throws ServiceError `TOOLKIT_WALLET_EXISTS` */
export async function writeWallet(path: string, text: string): Promise<void> {
  const folder = join(path, '..')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const draft = join(folder, `.${randomBytes(8).toString('hex')}.new`)
  try {
    await writeFile(draft, text, { flag: 'wx', mode: 0o600, flush: true })
    // Unlike a rename it refuses where something is.
    await link(draft, path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw exists(path)
    throw cause
  } finally {
    await rm(draft, { force: true })
  }
}

/** @throws ServiceError `TOOLKIT_WALLET_EXISTS`; asked before anybody types a password. */
export async function requireNoWallet(path: string): Promise<void> {
  if ((await readSmallFile(path)) !== null) throw exists(path)
}

function exists(path: string): ServiceError {
  return new ServiceError('TOOLKIT_WALLET_EXISTS', `there is a wallet already: ${path}`, {
    remedy: 'Choose another --name; wallets are never written over.',
  })
}

/**
 * Where a chain's data lives: `<first 8 hex of the genesis hash>/`, or with `-2`, `-3` where the
 * same genesis began again. Inside, one folder per program with its store, keys, secret and log.
 */
import { randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isPermissionDenied, permissionDetails } from '../directory-permission.ts'
import { ServiceError } from '../errors.ts'
import type { ProgramName } from '../service/contract.ts'
import { makeDirectory } from '../store/disk/make-directory.ts'
import { replaceFile } from './replace-file.ts'

/** The folders of one program. */
export interface ProgramFolder {
  readonly storePath: string
  readonly keyPath: string
  /** A file with the keyring secret, mode 0600, made on first use. */
  readonly secretPath: string
  /** A file with the Host's admin token, made the same way. */
  readonly adminTokenPath: string
  readonly logPath: string
}

const folderName = /^[0-9a-f]{8}(?:-(\d+))?$/

/**
 * Makes the directory that holds a folder for each chain, where it is missing.
 * @throws ServiceError `DEVNET_PATH_UNUSABLE`.
 */
export function prepareRoot(path: string): void {
  try {
    makeDirectory(path, 0o700)
    readdirSync(path)
    accessSync(path, constants.W_OK | constants.X_OK)
  } catch (cause) {
    const denied = isPermissionDenied(cause) ? permissionDetails(path) : null
    const message = `the directory ${path} cannot hold a development chain`
    throw new ServiceError('DEVNET_PATH_UNUSABLE', message, {
      facts: denied?.facts ?? { path },
      remedy: `${denied === null ? 'Choose' : `${denied.remedy} Or choose`} another one with devnet.path (DEVNET_PATH).`,
      cause,
    })
  }
}

/** Name of the `n`th folder of a chain, from 1 on. */
function chainFolderName(genesisHash: string, n: number): string {
  const name = genesisHash.slice(2, 10)
  return n === 1 ? name : `${name}-${n}`
}

/** The folders of this chain, the last one that was made first. */
export function chainFolders(root: string, genesisHash: string): string[] {
  return foldersOf(root)
    .filter((name) => name.startsWith(genesisHash.slice(2, 10)))
    .toSorted((a, b) => numberOf(b) - numberOf(a))
    .map((name) => join(root, name))
}

/** The folder that follows those of this chain. */
export function nextChainFolder(root: string, genesisHash: string): string {
  const [last] = chainFolders(root, genesisHash)
  const count = last === undefined ? 0 : numberOf(basename(last))
  return join(root, chainFolderName(genesisHash, count + 1))
}

function numberOf(name: string): number {
  return Number(folderName.exec(name)?.[1] ?? 1)
}

/** The folders of local chains, the one that was used last first. */
export function localChains(root: string): string[] {
  return foldersOf(root)
    .map((name) => join(root, name))
    .filter((path) => existsSync(nodeLog(path)))
    .map((path) => ({ path, usedMs: statSync(nodeLog(path)).mtimeMs }))
    .toSorted((a, b) => b.usedMs - a.usedMs)
    .map(({ path }) => path)
}

/** Where the local chain's node keeps its state and log. */
export function nodeFolder(folder: string): string {
  return join(folder, 'node')
}

/** The node's log, which each start truncates. */
export function nodeLog(folder: string): string {
  return join(nodeFolder(folder), 'log')
}

/** Where a program's data is or will be. */
export function programFolder(folder: string, program: ProgramName): ProgramFolder {
  const path = join(folder, program)
  return {
    storePath: join(path, 'store'),
    keyPath: join(path, 'keys'),
    secretPath: join(path, 'keyring-secret'),
    adminTokenPath: join(path, 'admin-token'),
    logPath: join(path, 'log'),
  }
}

/** Creates a program's folder and, once, its secrets. */
export function openProgramFolder(folder: string, program: ProgramName): ProgramFolder {
  const found = programFolder(folder, program)
  const { secretPath, adminTokenPath } = found
  makeDirectory(dirname(secretPath), 0o700)
  for (const path of program === 'host' ? [secretPath, adminTokenPath] : [secretPath])
    if (!existsSync(path)) replaceFile(path, `${randomBytes(32).toString('base64url')}\n`)
  return found
}

function foldersOf(root: string): string[] {
  return existsSync(root) ? readdirSync(root).filter((name) => folderName.test(name)) : []
}

/**
 * A Host of the toolkit's own: `viewmesh host` as a child process. Its store, keys, secrets and log stay in one folder, so that
 * the next start has what this one had.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '../../errors.ts'
import { openReaper } from '../../reaper/open-reaper.ts'
import { nodeOptions, paths, ports, stopTimeoutMs } from '../../service/contract.ts'
import { toSingleLine } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { type HostAddress, requestHost } from '../host-api/host-request.ts'
import type { Project } from '../project/project.ts'
import { sha256 } from '../project/view-content.ts'

interface EmbeddedHost {
  readonly address: HostAddress
  /** Resolves when the user interrupts; rejects where the Host ends by itself. */
  readonly ended: Promise<void>
  /** Stops it and waits for its end. */
  close(): Promise<void>
}

const startMs = 60_000
/** Longer than it may take by itself: a store in the middle of a write is left alone. */
const stopMs = stopTimeoutMs + 5_000
const retryMs = 100
const defaultApiAddress = `127.0.0.1:${ports.api}`

/**
 * The folder with all that it keeps: one for each project, in the home folder. In the project it could come from a
 * stranger, with links to other files or a token that he knows, or be published with it.
 */
export function embeddedFolder({ homeFolder }: Terminal, { folder }: Project): string {
  return join(homeFolder, '.viewmesh', 'hosts', sha256(realpathSync(folder)))
}

/** Where a Host of the toolkit's own is reached. */
export function embeddedUrl({ env }: Terminal): string {
  return urlOf(env['DB_API_ADDR'] || defaultApiAddress)
}

/**
 * The admin token of the Host that the toolkit started last; null where it never did. It is good for that run alone:
 * who listens at the Host's address once that has ended learns nothing by it.
 */
export function keptToken(terminal: Terminal, project: Project): string | null {
  const path = tokenPath(embeddedFolder(terminal, project))
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null
}

/**
 * @throws ServiceError `TOOLKIT_HOST_ENDED`; `TOOLKIT_HOST_UNREACHABLE` where it does not listen in time;
 *   `TOOLKIT_HOST_TIMEOUT` where it listens and does not respond; `TOOLKIT_FILE_REFUSED` where a link is in the folder's place.
 */
export async function openEmbeddedHost(terminal: Terminal, folder: string): Promise<EmbeddedHost> {
  makeOwnFolder(folder)
  if (!existsSync(keyringPath(folder))) writeSecret(keyringPath(folder))
  const token = randomSecret()
  const env = embeddedEnvironment(terminal.env, { folder, token })
  const url = urlOf(`${env['DB_API_ADDR']}`)
  const logPath = join(folder, 'log')
  const child = start(env, logPath)
  const { promise: over, resolve: end } = Promise.withResolvers<string>()
  child.once('error', (error) => end(error.message))
  child.once('exit', (code, signal) => end(signal ?? `exit code ${code}`))
  endWithThisProcess(child, over)
  const interrupt = (): void => void child.kill('SIGTERM')
  terminal.signal.addEventListener('abort', interrupt, { once: true })
  const close = async (): Promise<void> => {
    interrupt()
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMs)
    await over
    clearTimeout(timer)
    terminal.signal.removeEventListener('abort', interrupt)
  }
  const ended = over.then((reason) => {
    if (!terminal.signal.aborted) throw endedByItself(reason, logPath)
  })
  // Whoever waits for it gets the failure; until then nobody does.
  ended.catch(() => undefined)
  const starting = new AbortController()
  try {
    const signal = AbortSignal.any([terminal.signal, starting.signal])
    await Promise.race([untilItAnswers(url, signal), ended])
    writeSecret(tokenPath(folder), token)
    return { address: { url, token }, ended, close }
  } catch (error) {
    await close()
    throw error
  } finally {
    // A Host that has ended is asked no more, which would keep this command from its end.
    starting.abort()
  }
}

function makeOwnFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (lstatSync(folder).isDirectory()) return
  } catch (cause) {
    throw noFolder(folder, cause)
  }
  throw noFolder(folder)
}

function noFolder(folder: string, cause?: unknown): ServiceError {
  return new ServiceError('TOOLKIT_FILE_REFUSED', `${folder} is a link, or cannot be made`, {
    facts: { path: folder },
    remedy: 'Remove what is there: the Host keeps its keys and its token in a folder of its own.',
    cause,
  })
}

/** What the toolkit alone reads begins so: keys and passwords of wallets are none of a Host's business. */
const toolkitPrefix = 'VIEWMESH_'

/** What the user set passes through; the rest is kept in the folder and listens on this machine alone. */
export function embeddedEnvironment(
  given: Terminal['env'],
  { folder, token }: { readonly folder: string; readonly token: string },
): Record<string, string> {
  const own = {
    CHAIN_NAME: 'Ethereum',
    CHAIN_NETWORK: 'Mainnet',
    DB_API_ADDR: defaultApiAddress,
    DB_P2P_LISTEN_ADDR: `/ip4/127.0.0.1/tcp/${ports.p2p}`,
    HEALTH_ADDR: `127.0.0.1:${ports.health}`,
  }
  const kept = {
    DB_STORE_PATH: join(folder, 'store'),
    DB_KEY_PATH: join(folder, 'keys'),
    DB_KEYRING_SECRET: '',
    DB_KEYRING_SECRET_FILE: keyringPath(folder),
    HOST_ADMIN_TOKEN: token,
    HOST_ADMIN_TOKEN_FILE: '',
  }
  const set = Object.entries(given).filter(
    ([name, value]) => (value ?? '') !== '' && !name.startsWith(toolkitPrefix),
  )
  return { ...own, ...(Object.fromEntries(set) as Record<string, string>), ...kept }
}

function start(env: Record<string, string>, logPath: string) {
  const main = import.meta.url.endsWith('.ts') ? '../../main.ts' : '../../main.js'
  const file = fileURLToPath(new URL(main, import.meta.url))
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
  const log = openSync(logPath, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
  try {
    const args = [...nodeOptions, file, 'host']
    // A process group of its own: Ctrl-C in a terminal reaches it through this command alone.
    return spawn(process.execPath, args, { detached: true, env, stdio: ['ignore', log, log] })
  } finally {
    closeSync(log)
  }
}

/** Nobody would stop a Host whose toolkit was killed: it would keep its ports and its store. */
function endWithThisProcess({ pid }: ChildProcess, over: Promise<unknown>): void {
  if (pid === undefined) return
  const reaper = openReaper()
  reaper.watch(pid)
  void over.then(() => {
    reaper.forget(pid)
    return reaper.close()
  })
}

async function untilItAnswers(url: string, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + startMs
  for (;;) {
    try {
      await requestHost({ url, token: null }, { method: 'GET', path: paths.views, signal })
      return
    } catch (error) {
      const isAbsent = error instanceof ServiceError && error.code === 'TOOLKIT_HOST_UNREACHABLE'
      if (!isAbsent || performance.now() > deadline) throw error
      await delay(retryMs, undefined, { signal })
    }
  }
}

/** Where an address to listen on is reached from this machine. */
function urlOf(listening: string): string {
  const [, host = '127.0.0.1', port = ports.api] = /^(.*):(\d+)$/.exec(listening) ?? []
  return `http://${['', '0.0.0.0', '[::]'].includes(host) ? '127.0.0.1' : host}:${port}`
}

function tokenPath(folder: string): string {
  return join(folder, 'admin-token')
}

function keyringPath(folder: string): string {
  return join(folder, 'keyring-secret')
}

function randomSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** In a file that is there whole or not at all. */
function writeSecret(path: string, secret = randomSecret()): void {
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  writeFileSync(draft, `${secret}\n`, { mode: 0o600 })
  renameSync(draft, path)
}

const shownLines = 5

function endedByItself(reason: string, logPath: string): ServiceError {
  const lines = readFileSync(logPath, 'utf8').trim().split('\n').slice(-shownLines)
  const last = lines.map((line) => toSingleLine(line).slice(0, 1000)).join('\n')
  return new ServiceError(
    'TOOLKIT_HOST_ENDED',
    `the Host ended (${reason}); its last lines:\n${last}`,
    {
      facts: { log: logPath },
      remedy:
        'Remove the cause and deploy again; a port in use is set by DB_API_ADDR, DB_P2P_LISTEN_ADDR or HEALTH_ADDR.',
    },
  )
}

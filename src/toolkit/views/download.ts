/** A lens from the Web: over HTTP and HTTPS alone, within a size and a time, every redirect shown. */
import { ServiceError } from '../../errors.ts'
import { readBounded } from '../../read-bounded.ts'
import { viewLimits } from '../../views/view.ts'
import { usageError } from '../cli/exit-code.ts'
import { openProgressLine, remark, toSingleLine } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { sha256 } from '../project/view-content.ts'

const maxRedirects = 5
const timeoutMs = 60_000

/**
 * The bytes at an address. Without `expected`, their SHA-256 in hex, it is shown, to be given the next time.
 * @throws ServiceError `TOOLKIT_DOWNLOAD_UNREACHABLE`, `TOOLKIT_DOWNLOAD_REFUSED`
 */
export async function downloadLens(
  terminal: Terminal,
  address: string,
  expected: string | undefined,
): Promise<Uint8Array> {
  if (expected !== undefined && !/^[0-9a-f]{64}$/i.test(expected))
    throw usageError('--sha256 is not a SHA-256', 'It has 64 hex digits, as sha256sum prints them.')
  const response = await follow(terminal, toUrl(address))
  const bytes = await readModule(terminal, response)
  const found = sha256(bytes)
  if (expected === undefined) remark(terminal, `sha256 ${found} (give it with --sha256)`)
  else if (expected.toLowerCase() !== found)
    throw refused(`${address} has the SHA-256 ${found}, not ${expected.toLowerCase()}`)
  return bytes
}

function toUrl(address: string): URL {
  const url = URL.parse(address)
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw usageError(
      `--url takes no ${JSON.stringify(address.slice(0, 200))}`,
      'Give an address that begins with https:// or http://; --path takes files.',
    )
  if (url.username !== '' || url.password !== '')
    throw usageError('--url takes no password', 'Download it yourself and use --path.')
  return url
}

async function follow(terminal: Terminal, start: URL): Promise<Response> {
  const signal = AbortSignal.any([terminal.signal, AbortSignal.timeout(timeoutMs)])
  let url = start
  for (let count = 0; count <= maxRedirects; count += 1) {
    const response = await request(url, signal)
    const target = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || target === null) {
      if (response.status === 200) return response
      throw refused(`${url.href} returned the status ${response.status}`)
    }
    await response.body?.cancel()
    url = redirected(url, target)
    remark(terminal, `redirected to ${toSingleLine(url.href)}`)
  }
  throw refused(`${start.href} redirects more than ${maxRedirects} times`)
}

async function request(url: URL, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, { redirect: 'manual', signal })
  } catch (cause) {
    throw unreachable(url.href, cause)
  }
}

function redirected(from: URL, target: string): URL {
  const to = URL.parse(target, from.href)
  const isAllowed =
    to !== null &&
    (to.protocol === 'https:' || (to.protocol === 'http:' && from.protocol === 'http:'))
  if (isAllowed && to.username === '' && to.password === '') return to
  throw refused(`${from.href} redirects to ${toSingleLine(target.slice(0, 200))}`)
}

async function readModule(terminal: Terminal, { url, body }: Response): Promise<Uint8Array> {
  const progress = openProgressLine(terminal)
  const limit = viewLimits.blob
  try {
    const show = (bytes: number): void => progress.show(`${bytes} bytes`)
    return new Uint8Array(await readBounded(body ?? [], limit, show))
  } catch (error) {
    if (error instanceof RangeError)
      throw refused(`${url} is larger than ${limit} bytes, which no lens may be`)
    throw unreachable(url, error)
  } finally {
    progress.end()
  }
}

function unreachable(address: string, cause: unknown): ServiceError {
  return new ServiceError('TOOLKIT_DOWNLOAD_UNREACHABLE', `${address} could not be read`, {
    remedy: 'Check the address and your connection, or download it yourself and use --path.',
    cause,
  })
}

function refused(message: string): ServiceError {
  return new ServiceError('TOOLKIT_DOWNLOAD_REFUSED', message, {
    remedy: 'Make sure that the address is the right one, and of whom you have it.',
  })
}

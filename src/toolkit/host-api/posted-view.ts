/** Posting a View to a Host, and asking how it stands. */
import { z } from 'zod'
import { ServiceError } from '../../errors.ts'
import { paths } from '../../service/contract.ts'
import { noSender, viewIDs } from '../../views/view-id.ts'
import { answerInvalid, type HostAddress, requestHost } from './host-request.ts'
import { hostText } from './host-text.ts'
import { type HostWarning, hostWarnings } from './host-warnings.ts'

/** A View as a Host reports it. */
export interface HostedReport {
  /** Both IDs. */
  readonly id: string
  readonly address: string
  /** What its rows are asked for by; null for a View of another chain, which has none there. */
  readonly name: string | null
  readonly state: string
  readonly rows: number
  readonly blocks_failed: number
  readonly error: {
    readonly code?: string | undefined
    readonly message: string
    readonly remedy?: string | undefined
  } | null
  readonly warnings: readonly HostWarning[]
}

interface PostedView {
  readonly report: HostedReport
  /** False where the Host had it already. */
  readonly isNew: boolean
}

/** No query may have a longer name. */
const maxNameCharacters = 256

const reportSchema: z.ZodType<HostedReport> = z.object({
  id: z.string().regex(/^0x[0-9a-f]{64}$/),
  address: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  name: z.string().max(maxNameCharacters).regex(/^\w+$/).nullable(),
  state: z.string().regex(/^\w{1,32}$/),
  rows: z.number(),
  blocks_failed: z.number(),
  error: z
    .object({ code: hostText.optional(), message: hostText, remedy: hostText.optional() })
    .nullable(),
  warnings: hostWarnings,
})
const refusalSchema = z.object({
  error: hostText.optional(),
  message: hostText.optional(),
  code: hostText.optional(),
  remedy: hostText.optional(),
})

/**
 * Posts the wire bytes of a View, whose sender is the zero address.
 * @throws ServiceError `TOOLKIT_HOST_REFUSED` with what the Host says, and what `requestHost` throws.
 */
export async function postView(
  host: HostAddress,
  wire: Uint8Array,
  signal: AbortSignal,
): Promise<PostedView> {
  const body = { wire: Buffer.from(wire).toString('base64') }
  const request = { method: 'POST', path: paths.views, body, signal } as const
  const { status, body: answer } = await requestHost(host, request)
  if (status !== 200 && status !== 201) throw refused(host, status, answer)
  const { id } = viewIDs(noSender, wire)
  return { report: toReport(host, answer, id), isNew: status === 201 }
}

/** The View with either of its IDs; null where the Host has none. */
export async function findView(
  host: HostAddress,
  id: string,
  signal: AbortSignal,
): Promise<HostedReport | null> {
  const request = {
    method: 'GET',
    path: `${paths.views}/${encodeURIComponent(id)}`,
    signal,
  } as const
  const { status, body } = await requestHost(host, request)
  if (status === 404) return null
  if (status !== 200) throw refused(host, status, body)
  return toReport(host, body, id)
}

/** Removes a View with its rows; harmless where the Host has none with this ID. @throws ServiceError as `postView` does. */
export async function removePostedView(
  host: HostAddress,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const request = {
    method: 'DELETE',
    path: `${paths.views}/${encodeURIComponent(id)}`,
    signal,
  } as const
  const { status, body } = await requestHost(host, request)
  if (status !== 204 && status !== 404) throw refused(host, status, body)
}

/** Of the View with this ID: what a Host reports of another one would be recorded, and removed later. */
function toReport({ url }: HostAddress, answer: unknown, wanted: string): HostedReport {
  const { origin } = new URL(url)
  const { data } = reportSchema.safeParse(answer)
  if (data === undefined)
    throw answerInvalid(origin, 'returned something other than the report of a View')
  const isWanted = [data.id, data.address].some(
    (each) => each.toLowerCase() === wanted.toLowerCase(),
  )
  if (isWanted) return data
  throw answerInvalid(origin, `returned the report of the View ${data.id} in place of ${wanted}`)
}

function refused({ url }: HostAddress, status: number, answer: unknown): ServiceError {
  const { message, error, code, remedy } = refusalSchema.safeParse(answer).data ?? {}
  const said = message ?? error ?? ''
  return new ServiceError(
    'TOOLKIT_HOST_REFUSED',
    `${new URL(url).origin} refuses: ${said === '' ? `status ${status}` : said}`,
    {
      facts: { status, ...(code !== undefined && { code: code.slice(0, 80) }) },
      remedy: remedies[status] ?? remedy ?? 'Read the log of the Host.',
    },
  )
}

const tokenRemedy =
  'Give the token that this Host has in its HOST_ADMIN_TOKEN or HOST_ADMIN_TOKEN_FILE (npm start prints that of its own): set HOST_ADMIN_TOKEN to it, or name a file with it by --admin-token-file.'

/** Where the Host does not know how commands are given a token or a URL. */
const remedies: Readonly<Record<number, string>> = {
  401: tokenRemedy,
  403: tokenRemedy,
  404: 'Name the URL of the GraphQL of a Host, as npm start prints it: what answers there is something else.',
}

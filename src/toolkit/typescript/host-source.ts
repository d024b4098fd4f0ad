/** Views that a Host serves. What it answers is data of a stranger: its SDL is checked as that of a file is. */
import { z } from 'zod'
import { didYouMean, nearestName } from '../../did-you-mean.ts'
import { ServiceError } from '../../errors.ts'
import { paths } from '../../service/contract.ts'
import { shortList } from '../cli/short-list.ts'
import type { Terminal } from '../cli/terminal.ts'
import { answerInvalid, requestHost } from '../host-api/host-request.ts'
import { type TypesSource, toTypedView } from './types-source.ts'
import type { TypedView } from './view-declarations.ts'

/** A Host serves at most 1,000 Views, and lists those of other chains beside them. */
const maxViews = 2_000
/** Of all requests together: a Host may have each of them wait. */
const maxMs = 120_000
/** Between two looks at what it serves: one list, and the SDL of what is new in it. */
const pollMs = 2_000
const maxRequestMs = 30_000
/** Names that may be meant by a misspelt one; comparing takes as long as both are. */
const maxMeant = 128

const listed = z.object({
  id: z.string().regex(/^0x[0-9a-f]{64}$/),
  /** What its rows are asked for by; null where it reads another chain. */
  name: z
    .string()
    .max(16_384)
    .regex(/^[A-Za-z]\w*$/)
    .nullable(),
})
const list = z.object({ views: shortList(listed, maxViews) })
const definition = z.object({ sdl: z.string() })

interface ServedName {
  readonly id: string
  readonly name: string
}

/** The named Views of the Host, without names all that it serves. */
export function hostSource(terminal: Terminal, url: string, names: readonly string[]): TypesSource {
  /** By ID: a View never changes. */
  let known: ReadonlyMap<string, string> = new Map()
  return {
    pollMs,
    folders: async () => [],
    async read() {
      const ask = openAsking(terminal, url)
      const views: TypedView[] = []
      const found = new Map<string, string>()
      for (const { id, name } of chosen(url, servedNames(url, await ask(paths.views)), names)) {
        const sdl = known.get(id) ?? sdlOf(url, await ask(`${paths.views}/${id}`))
        // It went since it was listed.
        if (sdl === null) continue
        found.set(id, sdl)
        views.push(toTypedView(`${url}, the View ${name}`, sdl, name))
      }
      known = found
      return views
    },
  }
}

/** Asks for one path after the other; returns null where nothing is there. */
function openAsking({ signal }: Terminal, url: string): (path: string) => Promise<unknown> {
  const endsAt = performance.now() + maxMs
  return async (path) => {
    const timeoutMs = Math.max(1, Math.min(maxRequestMs, Math.ceil(endsAt - performance.now())))
    const request = { method: 'GET', path, signal, timeoutMs } as const
    const { status, body } = await requestHost({ url, token: null }, request)
    if (status === 404) return null
    if (status !== 200) throw answerInvalid(url, `answers with the status ${status}`)
    return body
  }
}

function servedNames(url: string, answer: unknown): readonly ServedName[] {
  const { data } = list.safeParse(answer)
  if (data === undefined) throw answerInvalid(url, `does not list at most ${maxViews} Views`)
  return data.views.flatMap(({ id, name }) => (name === null ? [] : [{ id, name }]))
}

function sdlOf(url: string, answer: unknown): string | null {
  if (answer === null) return null
  const { data } = definition.safeParse(answer)
  if (data === undefined) throw answerInvalid(url, 'has a View without an SDL')
  return data.sdl
}

function chosen(
  url: string,
  served: readonly ServedName[],
  names: readonly string[],
): readonly ServedName[] {
  const all = served.map(({ name }) => name)
  const missing = names.find((name) => !all.includes(name))
  if (missing !== undefined)
    throw new ServiceError(
      'TOOLKIT_VIEW_MISSING',
      `${url} serves no View '${missing}'${didYouMean(
        nearestName(
          missing,
          all.filter(({ length }) => length <= maxMeant),
        ),
      )}`,
      { remedy: `${url}${paths.views} shows the names under which it serves Views.` },
    )
  return names.length === 0 ? served : served.filter(({ name }) => names.includes(name))
}

/** The wire bytes of a View in a project: made once for each content, and kept. */
import { ServiceError } from '../../errors.ts'
import type { View } from '../../views/view.ts'
import { decodeView, encodeView } from '../../views/wire.ts'
import type { History } from './history.ts'
import type { ProjectView, ProjectWire } from './project-view.ts'
import { argumentsText, sha256, type ViewContent } from './view-content.ts'

/** @throws ServiceError `TOOLKIT_VIEW_INCOMPLETE`, `VIEWS_TOO_LARGE` */
export async function keptWireOf(
  history: History,
  project: ProjectView,
  locked: <T>(action: () => Promise<T>) => Promise<T>,
): Promise<ProjectWire> {
  const view = toCompleteView(project)
  const state = toState(project)
  const { revision } = project
  const labels = project.lenses.map(({ label }) => label)
  const kept = await history.readWire(state)
  // Whoever hands over a project may have put other bytes there.
  if (kept !== null && holds(kept, view)) return { revision, wire: kept, view, labels }
  const wire = encodeView(view)
  await locked(() => history.keepWire(state, wire))
  return { revision, wire, view, labels }
}

/** @throws ServiceError `TOOLKIT_VIEW_INCOMPLETE` */
function toCompleteView({ name, query, sdl, lenses }: ProjectView): View {
  if (query === null || sdl === null) throw incomplete(name, query === null ? 'query' : 'sdl')
  return {
    query,
    sdl,
    lenses: lenses.map(({ wasm, args }) => ({ wasm, args: argumentsText(args) })),
  }
}

/** Labels are not part of the bytes. */
function toState({ query, sdl, lenses }: ProjectView): ViewContent {
  return {
    ...{ query, sdl },
    lenses: lenses.map(({ args, wasm }) => ({
      ...{ label: '', args, bytes: wasm.length },
      sha256: sha256(wasm),
    })),
  }
}

function holds(wire: Uint8Array, { query, sdl, lenses }: View): boolean {
  try {
    const found = decodeView(wire)
    return (
      found.query === query &&
      found.sdl === sdl &&
      found.lenses.length === lenses.length &&
      found.lenses.every(({ args, wasm }, index) => {
        const wanted = lenses[index]
        return wanted !== undefined && args === wanted.args && Buffer.from(wasm).equals(wanted.wasm)
      })
    )
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
}

function incomplete(name: string, part: 'query' | 'sdl'): ServiceError {
  const shown = part === 'sdl' ? 'SDL' : part
  return new ServiceError('TOOLKIT_VIEW_INCOMPLETE', `view '${name}' has no ${shown} yet`, {
    remedy: `Add one: viewmesh view add ${part} '...' --name ${name}`,
  })
}

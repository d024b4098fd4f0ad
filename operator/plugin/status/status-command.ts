/** `kubectl viewmesh status`: what holds and what does not, of one resource or of all. */
import type { ViewResource } from '../../api.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import type { ClusterAccess } from '../cluster/cluster-access.ts'
import { listClaims, listPods } from '../cluster/replicas.ts'
import {
  listResources,
  listViewResources,
  parseResourceName,
  parseViewName,
  readResource,
  readView,
} from '../cluster/resources.ts'
import type { Output } from '../text/output.ts'
import { type ResourceSummary, type Stated, summaryOf } from './summary.ts'
import { attentionLines, overviewLines, type Page, screenLines } from './summary-lines.ts'
import {
  type ViewSummary,
  viewOverviewLines,
  viewScreenLines,
  viewSummaryOf,
} from './view-summary.ts'

export interface StatusFlags {
  readonly allNamespaces?: boolean
  /** `json` for programs. */
  readonly output?: 'json'
}

type Access = Pick<ClusterAccess, 'api' | 'namespace'>

/** What was asked about. */
interface Found {
  readonly resources: readonly ResourceSummary[]
  readonly views: readonly ViewSummary[]
  /** Why Views are missing; null where none is. */
  readonly lack: string | null
}

/** 0 where everything asked for is ready, 1 where something is not, could not be read, or there is nothing. */
export async function statusCommand(
  access: Access,
  name: string | undefined,
  flags: StatusFlags,
  output: Output,
): Promise<0 | 1> {
  const place = flags.allNamespaces === true ? undefined : access.namespace
  const found = name === undefined ? await findAll(access, place) : await findOne(access, name)
  const summaries: readonly Stated[] = [...found.resources, ...found.views]
  const page = { width: output.width, nowMs: Date.now() }
  const isOne = name !== undefined
  const lines =
    flags.output === 'json'
      ? JSON.stringify(isOne ? summaries[0] : { items: summaries }, null, 2).split('\n')
      : textLines(found, isOne, page)
  for (const line of lines) output.line(line)
  if (found.lack !== null) output.note(`Views are not shown: ${found.lack}`)
  if (summaries.length === 0) {
    const where = place === undefined ? 'any namespace' : `namespace ${place}`
    output.note(`There are no Generators, Hosts and Views in ${where}.`)
  }
  const isWell = summaries.every(({ isReady }) => isReady) && found.lack === null
  return summaries.length > 0 && isWell ? 0 : 1
}

async function findOne({ api, namespace }: Access, text: string): Promise<Found> {
  const viewName = parseViewName(text)
  if (viewName !== null) {
    const view = await readView(api, namespace, viewName)
    return { resources: [], views: [viewSummaryOf(view)], lack: null }
  }
  const resource = await readResource(api, namespace, parseResourceName(text))
  return { resources: await summariesOf({ api }, namespace, [resource]), views: [], lack: null }
}

async function findAll({ api }: Access, place: string | undefined): Promise<Found> {
  const resources = await summariesOf({ api }, place, await listResources(api, place))
  const { views, lack } = await viewsThere(api, place)
  return { resources, views: views.map(viewSummaryOf), lack }
}

async function summariesOf(
  { api }: Pick<Access, 'api'>,
  place: string | undefined,
  resources: Awaited<ReturnType<typeof listResources>>,
): Promise<ResourceSummary[]> {
  const behind = { pods: await listPods(api, place), claims: await listClaims(api, place) }
  return resources.map((resource) => summaryOf(resource, behind))
}

/** A cluster may have an operator that knows no Views, and somebody a role without them. */
async function viewsThere(
  api: Access['api'],
  place: string | undefined,
): Promise<{ readonly views: readonly ViewResource[]; readonly lack: string | null }> {
  try {
    return { views: await listViewResources(api, place), lack: null }
  } catch (error) {
    if (hasCode(error, 'OPERATOR_API_NOT_FOUND')) return { views: [], lack: null }
    if (hasCode(error, 'OPERATOR_API_FORBIDDEN')) return { views: [], lack: error.message }
    throw error
  }
}

function textLines({ resources, views }: Found, isOne: boolean, page: Page): string[] {
  if (isOne) {
    return [
      ...resources.flatMap((summary) => screenLines(summary, page)),
      ...views.flatMap((summary) => viewScreenLines(summary, page)),
    ]
  }
  const tables = [
    resources.length === 0 ? [] : overviewLines(resources),
    views.length === 0 ? [] : viewOverviewLines(views),
  ].filter((lines) => lines.length > 0)
  return [
    ...tables.flatMap((lines, at) => (at === 0 ? lines : ['', ...lines])),
    ...[...resources, ...views].flatMap((summary) => attentionLines(summary, page)),
  ]
}

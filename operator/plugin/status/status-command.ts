/** `kubectl viewmesh status`: what holds and what does not, of one resource or of all. */
import type { ClusterAccess } from '../cluster/cluster-access.ts'
import { listClaims, listPods } from '../cluster/replicas.ts'
import { listResources, parseResourceName, readResource } from '../cluster/resources.ts'
import type { Output } from '../text/output.ts'
import { type ResourceSummary, summaryOf } from './summary.ts'
import { overviewLines, screenLines } from './summary-lines.ts'

export interface StatusFlags {
  readonly allNamespaces?: boolean
  /** `json` for programs. */
  readonly output?: 'json'
}

/** 0 where everything asked for is ready, 1 where something is not or there is nothing. */
export async function statusCommand(
  { api, namespace }: Pick<ClusterAccess, 'api' | 'namespace'>,
  name: string | undefined,
  flags: StatusFlags,
  output: Output,
): Promise<0 | 1> {
  const place = flags.allNamespaces === true ? undefined : namespace
  const resources =
    name === undefined
      ? await listResources(api, place)
      : [await readResource(api, namespace, parseResourceName(name))]
  const scope = name === undefined ? place : namespace
  const behind = { pods: await listPods(api, scope), claims: await listClaims(api, scope) }
  const summaries = resources.map((resource) => summaryOf(resource, behind))
  const isOne = name !== undefined
  const lines =
    flags.output === 'json' ? jsonLines(summaries, isOne) : textLines(summaries, isOne, output)
  for (const line of lines) output.line(line)
  if (summaries.length === 0) {
    const where = place === undefined ? 'any namespace' : `namespace ${place}`
    output.note(`There are no Generators and Hosts in ${where}.`)
  }
  return summaries.length > 0 && summaries.every(({ isReady }) => isReady) ? 0 : 1
}

function jsonLines(summaries: readonly ResourceSummary[], isOne: boolean): string[] {
  return JSON.stringify(isOne ? summaries[0] : { items: summaries }, null, 2).split('\n')
}

function textLines(
  summaries: readonly ResourceSummary[],
  isOne: boolean,
  { width }: Output,
): string[] {
  const page = { width, nowMs: Date.now() }
  if (isOne) return summaries.flatMap((summary) => screenLines(summary, page))
  return summaries.length === 0 ? [] : overviewLines(summaries, page)
}

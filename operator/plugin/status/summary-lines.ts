/** Summaries as a person reads them: one resource on a screen, or many in a table. */
import { ageOf } from '../text/age.ts'
import { inColumns } from '../text/columns.ts'
import { wrapped } from '../text/wrapped.ts'
import type { ReplicaSummary, ResourceSummary, Stated, StatedCondition } from './summary.ts'

/** How to write them. */
export interface Page {
  /** Characters in a line. */
  readonly width: number
  readonly nowMs: number
}

/** Everything about one. Conditions that want attention begin with an exclamation mark. */
export function screenLines(summary: ResourceSummary, page: Page): string[] {
  const facts = [
    ['chain', summary.chain],
    ['image', summary.image ?? 'not known yet'],
    ['pods', summary.pods ?? '-'],
  ]
  return [
    ...statedLines(summary, facts, page),
    ...summary.replicas.flatMap((replica) => ['', ...replicaLines(replica)]),
  ]
}

/** What a screen of any kind begins with. */
export function statedLines(
  { kind, namespace, name, isReady, remark, conditions }: Stated,
  facts: readonly (readonly string[])[],
  page: Page,
): string[] {
  return [
    `${kind} ${namespace}/${name} is ${isReady ? 'ready' : 'not ready'}`,
    ...indented(inColumns(facts)),
    ...(remark === null ? [] : ['', ...wrapped(remark, page.width)]),
    ...(conditions.length === 0 ? [] : ['', 'Conditions']),
    ...conditionLines(conditions, page),
  ]
}

function conditionLines(conditions: readonly StatedCondition[], { width, nowMs }: Page): string[] {
  const rows = inColumns(
    conditions.map(({ type, status, reason, wantsAttention, lastTransitionTime }) => {
      const mark = wantsAttention ? '!' : ' '
      return [`${mark} ${type}`, status, reason, `for ${ageOf(lastTransitionTime, nowMs)}`]
    }),
  )
  return conditions.flatMap(({ message }, at) => [
    ` ${rows[at]}`,
    ...wrapped(message, width - 4).map((line) => `    ${line}`),
  ])
}

function replicaLines(replica: ReplicaSummary): string[] {
  const { ordinal, pod, state, restarts, volumes } = replica
  const facts = [
    ['head', cellOf(replica.head)],
    ['lag', cellOf(replica.lag)],
    ['peers', cellOf(replica.peers)],
    ['upstream', cellOf(replica.upstreamMode)],
    ['peer ID', cellOf(replica.peerID)],
    ['signs as', cellOf(replica.identity)],
    ...(replica.addresses ?? []).map((address) => ['address', address]),
    ...furtherFacts(replica),
    ...volumes.map(({ claim, holds, size, phase }) => [holds, `${phase}, ${size}, claim ${claim}`]),
  ]
  const again = restarts === 0 ? '' : `, ${restarts} restarts`
  return [
    `Replica ${ordinal}: pod ${pod} (${state}${again})`,
    ...indented(inColumns(facts.filter(([, value]) => value !== '-'))),
  ]
}

/** What the lines of a replica say in their own words, or leave to `-o json`. */
const shownAbove: readonly string[] = [
  ...['ordinal', 'pod', 'state', 'restarts', 'volumes', 'head', 'lag', 'peers', 'upstreamMode'],
  ...['peerID', 'identity', 'addresses', 'keyringFingerprint', 'keysClaimUID'],
]

/** What else the status says of it, under its own name: the operator may be newer than this plugin. */
function furtherFacts(replica: ReplicaSummary): string[][] {
  return Object.entries(replica).flatMap(([name, value]) => {
    const isShown =
      !shownAbove.includes(name) && ['string', 'number', 'boolean'].includes(typeof value)
    return isShown ? [[name, String(value)]] : []
  })
}

/** A table of all. */
export function overviewLines(summaries: readonly ResourceSummary[]): string[] {
  const heading = ['NAMESPACE', 'RESOURCE', 'READY', 'REASON', 'PODS', 'HEAD', 'LAG', 'PEERS']
  const rows = summaries.map((summary) => {
    return [
      ...statedCells(summary),
      cellOf(summary.pods),
      cellOf(summary.head),
      cellOf(summary.lag),
      cellOf(summary.peers),
    ]
  })
  return inColumns([heading, ...rows])
}

/** The first cells of the row of any resource: namespace, name, whether it is ready, and why. */
export function statedCells(summary: Stated): string[] {
  const ready = summary.conditions.find(({ type }) => type === 'Ready')
  return [
    summary.namespace,
    shortName(summary),
    summary.isReady ? 'True' : 'False',
    summary.remark === null ? cellOf(ready?.reason) : 'NotObserved',
  ]
}

/** What of a resource wants attention; none where nothing does. */
export function attentionLines(summary: Stated, { width }: Page): string[] {
  const { namespace, remark, conditions } = summary
  const said = [
    ...(remark === null ? [] : [remark]),
    ...conditions
      .filter(({ wantsAttention }) => wantsAttention)
      .map(({ type, reason, message }) => `${type} (${reason}): ${message}`),
  ]
  if (said.length === 0) return []
  return [
    '',
    `${shortName(summary)} in ${namespace}`,
    ...said.flatMap((text) => {
      const [first = '', ...rest] = wrapped(text, width - 4)
      return [`  ! ${first}`, ...rest.map((line) => `    ${line}`)]
    }),
  ]
}

function shortName({ kind, name }: Stated): string {
  return `${kind.toLowerCase()}/${name}`
}

/** With two spaces before each. */
export function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`)
}

/** A dash for what is not known. */
export function cellOf(value: string | number | null | undefined): string {
  return value === null || value === undefined ? '-' : String(value)
}

/** What is known of a View, and how a person reads it. */
import type { ViewHostStatus } from '../../api/view-status.ts'
import type { ViewResource } from '../../api.ts'
import { inColumns } from '../text/columns.ts'
import { wrapped } from '../text/wrapped.ts'
import { type Stated, statedOf } from './summary.ts'
import { cellOf, indented, type Page, statedCells, statedLines } from './summary-lines.ts'

export interface ViewSummary extends Stated {
  readonly kind: 'View'
  /** The ID by which Hosts know it. */
  readonly id: string | null
  /** The ID on the registry chain. */
  readonly address: string | null
  readonly type: string | null
  readonly state: string | null
  readonly served: string | null
  readonly rows: number | null
  readonly lastBlock: number | null
  readonly hosts: readonly ViewHostStatus[]
}

export function viewSummaryOf(view: ViewResource): ViewSummary {
  const { status, spec } = view
  return {
    ...statedOf(view),
    kind: 'View',
    id: status?.viewID ?? null,
    address: status?.address ?? spec.registryID ?? null,
    type: status?.type ?? null,
    state: status?.state ?? null,
    served: status?.served ?? null,
    rows: status?.rows ?? null,
    lastBlock: status?.lastBlock ?? null,
    hosts: status?.hosts ?? [],
  }
}

/** Everything about one. */
export function viewScreenLines(summary: ViewSummary, page: Page): string[] {
  const { id, address, type, state, served, rows, lastBlock, hosts } = summary
  const facts = [
    ['ID', cellOf(id)],
    ['registry ID', cellOf(address)],
    ['type', cellOf(type)],
    ['state', cellOf(state)],
    ['replicas', cellOf(served)],
    ['rows', cellOf(rows)],
    ['last block', cellOf(lastBlock)],
  ]
  return [
    ...statedLines(summary, facts, page),
    ...hosts.flatMap((host) => ['', ...hostLines(host, page)]),
  ]
}

function hostLines(
  { name, state, served, rows, lastBlock, message }: ViewHostStatus,
  { width }: Page,
): string[] {
  const facts = [
    ['replicas', served],
    ['rows', cellOf(rows)],
    ['last block', cellOf(lastBlock)],
  ]
  return [
    `Host ${name}: ${state}`,
    ...indented(inColumns(facts)),
    ...(message === undefined ? [] : indented(wrapped(message, width - 2))),
  ]
}

/** Of an ID so much is shown that two are rarely taken for each other. */
const shownOfID = 10

/** A table of all. */
export function viewOverviewLines(summaries: readonly ViewSummary[]): string[] {
  const names = ['NAMESPACE', 'RESOURCE', 'READY', 'REASON']
  const heading = [...names, 'ID', 'STATE', 'ROWS', 'HOSTS', 'LAST BLOCK']
  const rows = summaries.map((summary) => [
    ...statedCells(summary),
    cellOf((summary.id ?? summary.address)?.slice(0, shownOfID)),
    cellOf(summary.state),
    cellOf(summary.rows),
    cellOf(summary.served),
    cellOf(summary.lastBlock),
  ])
  return inColumns([heading, ...rows])
}

/** The status of a View, from what a reconcile found. */
import type { ReasonOf } from '../../api/conditions.ts'
import type { ViewResource } from '../../api.ts'
import type { WantedStatus } from '../../runtime/status-writer.ts'
import { type HostFinding, type HostSituation, viewAtHost } from '../evaluate/view-at-host.ts'
import type { ReadView } from '../fetch/view-definition.ts'
import { nearness } from '../observe/view-at-replica.ts'
import { conditionsOf } from '../statements/conditions.ts'
import type { Problem, Statement, Statements } from '../statements/problem.ts'
import { listed } from '../statements/sentences.ts'
import { progressOf } from './progress.ts'
import { observedTypes, overlapStatement, pausedStatement } from './resource-status.ts'

/** What a reconcile of a View found. */
export interface ViewFindings {
  /** The View as Hosts get it; null for one that is named by its ID, or cannot be made. */
  readonly read: ReadView | null
  /** Why it cannot be made. */
  readonly wrong: Statement<ReasonOf<'Validated'>> | null
  /** How the selected Hosts stand to it. */
  readonly situations: readonly HostSituation[]
  readonly problem: Problem | null
  /** What is tried again. */
  readonly error: { readonly message: string } | null
  /** Whether nothing is known, since something cannot be read. */
  readonly isUnread: boolean
  /** While paused: what would be written. */
  readonly waiting: readonly string[] | null
  /** Both operators, where another one is at work as well. */
  readonly overlap: readonly [string, string] | null
}

/** Everything that was seen stays as it was said while nothing is known of it. */
export function wantedViewStatus(view: ViewResource, findings: ViewFindings): WantedStatus {
  const { managedBy: _, conditions: before = [], ...facts } = view.status ?? {}
  const progress = progressOf(view, findings)
  const { problem, error, isUnread } = findings
  if (isUnread || problem !== null || error !== null) {
    const own = conditionsOf(stoppedStatements(findings))
    const kept = before.filter(({ type }) => !['Ready', 'Reconciling', 'Stalled'].includes(type))
    return { conditions: [...own, ...kept], facts: { ...facts, ...progress }, figures: {} }
  }
  const found = findings.situations.map(viewAtHost)
  const served = isAsked(findings) ? null : before.find(({ type }) => type === 'Served')
  const statements: Statements = {
    ...partStatements(view, findings, found),
    ...(served ? { Served: served as Statement } : {}),
    ...(findings.overlap === null ? {} : { Contested: overlapStatement(findings.overlap) }),
    ...(findings.waiting === null
      ? {}
      : { Paused: pausedStatement({ problem, identity: null }, findings.waiting) }),
  }
  const isKept = served !== null && served !== undefined
  const { hosts, ...sums } = isKept ? (view.status ?? {}) : reported(found)
  const { state, served: count, rows, lastBlock } = sums
  const figures = { rows, lastBlock, hosts }
  return {
    conditions: conditionsOf({ Ready: readyOf(statements), ...statements }),
    moving: observedTypes,
    facts: {
      ...progress,
      ...namesOf(view, findings),
      state,
      served: count,
      ...(isNews(view, figures) ? figures : {}),
    },
    figures: isNews(view, figures) ? {} : figures,
  }
}

/** Whether every replica that runs was asked since the operator started. */
function isAsked({ situations }: ViewFindings): boolean {
  return situations.every(({ isAsked: asked }) => asked)
}

function stoppedStatements({ problem, error, isUnread }: ViewFindings): Statements {
  if (problem !== null) {
    return { Ready: { reason: 'Stalled', message: problem.message }, Stalled: problem }
  }
  const message = error?.message ?? 'See the log of the operator, and report it.'
  const Reconciling = { reason: 'ProgressingWithRetry', message }
  return isUnread
    ? { Ready: { reason: 'Unread', message: `Nothing is known since: ${message}` }, Reconciling }
    : { Ready: { reason: 'Pending', message }, Reconciling }
}

function partStatements(
  { spec, metadata }: ViewResource,
  { wrong, read }: ViewFindings,
  found: readonly HostFinding[],
): Statements {
  if (wrong !== null) {
    const Served = { reason: 'NotValidated', message: 'Hosts get the View once it is valid.' }
    return { Validated: wrong, Served }
  }
  const Validated =
    spec.registryID === undefined
      ? { reason: 'Valid', message: `Its ID is ${read?.id}.` }
      : { reason: 'NamedByID', message: 'The Hosts find it on the registry chain by its ID.' }
  return { Validated, Served: servedStatement(metadata.namespace, spec.hostSelector, found) }
}

/** What keeps Hosts from it, by what a person has to do first. */
const order: readonly ReasonOf<'Served'>[] = [
  'Failing',
  'Refused',
  'OtherChain',
  'HostNeedsUpdate',
  'NoRoom',
  'NotFound',
  'Pending',
  'NoReplicas',
  'UnderAnotherName',
  'AllServe',
]

function servedStatement(
  namespace: string,
  { matchLabels = {} }: ViewResource['spec']['hostSelector'],
  found: readonly HostFinding[],
): Statement<ReasonOf<'Served'>> {
  if (found.length === 0) {
    const wanted = Object.entries(matchLabels).map(([name, value]) => `${name}=${value}`)
    const which = wanted.length === 0 ? '' : ` with the labels ${listed(wanted)}`
    const message = `There is no Host${which} in namespace ${namespace}: give a Host these labels, or change hostSelector.`
    return { reason: 'NoHosts', message }
  }
  const worst = found.toSorted((a, b) => order.indexOf(a.reason) - order.indexOf(b.reason))
  const reason = worst[0]?.reason ?? 'Pending'
  const sum = (of: (one: HostFinding) => number): number =>
    found.reduce((total, one) => total + of(one), 0)
  const counts = `${sum(({ served }) => served)} of ${sum(({ wanted }) => wanted)} replicas of ${found.length === 1 ? '1 Host' : `${found.length} Hosts`} serve it.`
  const texts = worst.flatMap(({ reason: of, status: { name, message } }) =>
    of === reason && message !== undefined ? [`Host ${name}: ${message}`] : [],
  )
  return { reason, message: [counts, ...texts.slice(0, 3)].join(' ') }
}

function readyOf({ Validated, Served }: Statements): Statement<ReasonOf<'Ready'>> {
  if (Validated?.reason !== 'Valid' && Validated?.reason !== 'NamedByID') {
    return { reason: 'NotValidated', message: Validated?.message ?? '' }
  }
  const isServed = Served?.reason === 'AllServe' || Served?.reason === 'UnderAnotherName'
  return { reason: isServed ? 'ViewServed' : 'NotServed', message: Served?.message ?? '' }
}

type Sums = {
  readonly [N in 'state' | 'served' | 'rows' | 'lastBlock' | 'hosts']?:
    | NonNullable<ViewResource['status']>[N]
    | undefined
}

const maxHosts = 64

function reported(found: readonly HostFinding[]): Sums {
  const hosts = found.map(({ status }) => status).slice(0, maxHosts)
  const rows = hosts.flatMap((host) => host.rows ?? [])
  const blocks = hosts.flatMap((host) => host.lastBlock ?? [])
  const [state] = hosts.map((host) => host.state).toSorted((a, b) => rankOf(a) - rankOf(b))
  const count = (of: 'served' | 'wanted'): number => found.reduce((sum, one) => sum + one[of], 0)
  return {
    ...(state === undefined ? {} : { state }),
    served: `${count('served')}/${count('wanted')}`,
    ...(rows.length === 0 ? {} : { rows: Math.min(...rows) }),
    ...(blocks.length === 0 ? {} : { lastBlock: Math.min(...blocks) }),
    hosts,
  }
}

/** `unknown` before all others. */
function rankOf(state: string): number {
  return nearness(state as Parameters<typeof nearness>[0])
}

/** The ID stays as it was while a lens is missing. */
function namesOf(
  { spec, status }: ViewResource,
  { read, situations }: ViewFindings,
): Pick<NonNullable<ViewResource['status']>, 'viewID' | 'address' | 'type'> {
  const { viewID, address, type } = status ?? {}
  if (read !== null) return { viewID: read.id, address: read.address, type: read.type }
  const { registryID } = spec
  if (registryID === undefined) {
    return { ...(viewID && { viewID }), ...(address && { address }), ...(type && { type }) }
  }
  const reports = situations.flatMap(({ reports: of }) => [...of.values()])
  const found = reports.find((report) => report?.type)?.type
  return {
    ...(registryID.length > 42 ? { viewID: registryID } : { address: registryID }),
    ...(found && { type: found }),
  }
}

/** Whether more than figures changed: Hosts that came or went, states and messages. */
function isNews({ status }: ViewResource, { hosts = [], rows, lastBlock }: Sums): boolean {
  const texts = (all: Sums['hosts'] = []): string =>
    JSON.stringify(
      all.map(({ name, state, served, message, ...figures }) => [
        ...[name, state, served, message],
        ...[figures.rows === undefined, figures.lastBlock === undefined],
      ]),
    )
  const hasBegun = (before: unknown, after: unknown): boolean =>
    (before === undefined) !== (after === undefined)
  return (
    texts(status?.hosts) !== texts(hosts) ||
    hasBegun(status?.rows, rows) ||
    hasBegun(status?.lastBlock, lastBlock)
  )
}

/** The status of a View, from what a reconcile found. */
import type { ReasonOf } from '../../api/conditions.ts'
import type { Condition } from '../../api/status.ts'
import type { ViewResource } from '../../api.ts'
import type { WantedStatus } from '../../runtime/status-writer.ts'
import { isSenderKnown, type RegistrationFinding } from '../evaluate/registration.ts'
import {
  type HostFinding,
  type HostSituation,
  lowestFigures,
  viewAtHost,
} from '../evaluate/view-at-host.ts'
import type { ReadView } from '../fetch/view-definition.ts'
import { nearness } from '../observe/view-at-replica.ts'
import { conditionsOf } from '../statements/conditions.ts'
import type { Problem, Statement, Statements } from '../statements/problem.ts'
import { listed } from '../statements/sentences.ts'
import { progressOf } from './progress.ts'
import { observedTypes, overlapStatement, pausedStatement } from './resource-status.ts'
import { stoppedStatus } from './stopped-status.ts'

/** What a reconcile of a View found. */
export interface ViewFindings {
  /** The View as Hosts get it; null for one that is named by its ID, or cannot be made. */
  readonly read: ReadView | null
  /** Why it cannot be made. */
  readonly wrong: Statement<ReasonOf<'Validated'>> | null
  /** How far it is registered; null where nobody wants that. */
  readonly registration: RegistrationFinding | null
  /** How the selected Hosts stand to it. */
  readonly situations: readonly HostSituation[]
  readonly problem: Problem | null
  /** What is tried again. */
  readonly error: unknown
  /** Whether nothing is known, since something cannot be read. */
  readonly isUnread: boolean
  /** While paused: what would be written. */
  readonly waiting: readonly string[] | null
  /** Both operators, where another one is at work as well. */
  readonly overlap: readonly [string, string] | null
}

/** Everything that was seen stays as it was said while nothing is known of it. */
export function wantedViewStatus(view: ViewResource, findings: ViewFindings): WantedStatus {
  const { problem, error, isUnread, overlap, waiting } = findings
  if (isUnread || problem !== null || error !== null) {
    return stoppedStatus(view, findings, isUnread ? unread : pending)
  }
  const found = findings.situations.map(viewAtHost)
  const known = isAsked(findings) ? undefined : view.status?.conditions?.find(isServed)
  const statements: Statements = {
    ...partStatements(view, findings, found),
    ...(findings.registration && { Registered: findings.registration.statement }),
    ...(known === undefined ? {} : { Served: known }),
    ...(overlap === null ? {} : { Contested: overlapStatement(overlap) }),
    ...(waiting === null ? {} : { Paused: pausedStatement({ problem, identity: null }, waiting) }),
  }
  const sums: Sums = known === undefined ? reported(found) : (view.status ?? {})
  const { state, served, rows, lastBlock, hosts } = sums
  const figures = { rows, lastBlock, hosts }
  const isPrompt = isNews(view, figures)
  return {
    conditions: conditionsOf({ Ready: readyOf(statements), ...statements }),
    moving: observedTypes,
    facts: {
      ...progressOf(view, findings),
      ...namesOf(view, findings),
      ...(findings.registration && { registration: findings.registration.status }),
      ...{ state, served },
      ...(isPrompt ? figures : {}),
    },
    figures: isPrompt ? {} : figures,
  }
}

function unread(message: string): Statement<'Unread'> {
  return { reason: 'Unread', message: `Nothing is known since: ${message}` }
}

function pending(message: string): Statement<'Pending'> {
  return { reason: 'Pending', message }
}

function isServed({ type }: Condition): boolean {
  return type === 'Served'
}

/** Whether every replica that runs was asked since the operator started. */
function isAsked({ situations }: ViewFindings): boolean {
  return situations.every(({ isAsked: asked }) => asked)
}

function partStatements(
  view: ViewResource,
  { wrong, read }: ViewFindings,
  found: readonly HostFinding[],
): Statements {
  const { spec, metadata, status } = view
  if (wrong !== null) {
    const Served = { reason: 'NotValidated', message: 'Hosts get the View once it is valid.' }
    return { Validated: wrong, Served }
  }
  const Validated =
    spec.registryID === undefined
      ? { reason: 'Valid', message: validText(view, read) }
      : { reason: 'NamedByID', message: 'The Hosts find it on the registry chain by its ID.' }
  if (!isSenderKnown(view) && status?.viewID === undefined) {
    const message = 'Hosts get it once its ID is known, which follows from who registers it.'
    return { Validated, Served: { reason: 'NotPrepared', message } }
  }
  return { Validated, Served: servedStatement(metadata.namespace, spec.hostSelector, found) }
}

function validText(view: ViewResource, read: ReadView | null): string {
  return isSenderKnown(view)
    ? `Its ID is ${read?.id}.`
    : 'Its ID follows from the address that registers it.'
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

function readyOf({ Validated, Served, Registered }: Statements): Statement<ReasonOf<'Ready'>> {
  if (Validated?.reason !== 'Valid' && Validated?.reason !== 'NamedByID') {
    return { reason: 'NotValidated', message: Validated?.message ?? '' }
  }
  const isServed = Served?.reason === 'AllServe' || Served?.reason === 'UnderAnotherName'
  if (isServed && Registered !== undefined && Registered.reason !== 'Registered') {
    return { reason: 'NotRegistered', message: Registered.message }
  }
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
  const [state] = hosts.map((host) => host.state).toSorted((a, b) => rankOf(a) - rankOf(b))
  const count = (of: 'served' | 'wanted'): number => found.reduce((sum, one) => sum + one[of], 0)
  return {
    state,
    served: `${count('served')}/${count('wanted')}`,
    ...lowestFigures(hosts),
    hosts,
  }
}

/** `unknown` before all others. */
function rankOf(state: string): number {
  return nearness(state as Parameters<typeof nearness>[0])
}

/** The ID stays as it was while a lens is missing. */
function namesOf(
  view: ViewResource,
  { read, situations }: ViewFindings,
): Pick<NonNullable<ViewResource['status']>, 'viewID' | 'address' | 'type'> {
  const { spec, status } = view
  const { viewID, address, type = read?.type } = status ?? {}
  if (read !== null && isSenderKnown(view))
    return { viewID: read.id, address: read.address, type: read.type }
  const { registryID } = spec
  if (registryID === undefined) {
    return { ...(viewID && { viewID }), ...(address && { address }), ...(type && { type }) }
  }
  const reports = situations.flatMap(({ reports: of }) => [...of.values()])
  const found = reports.find((report) => report?.type)?.type
  return {
    ...(registryID.length === 42 ? { address: registryID } : { viewID: registryID }),
    ...(found && { type: found }),
  }
}

/** Whether more than figures changed: Hosts that came or went, states and messages, and whether there are figures. */
function isNews({ status }: ViewResource, { hosts }: Pick<Sums, 'hosts'>): boolean {
  const texts = (all: Sums['hosts'] = []): string =>
    JSON.stringify(
      all.map(({ name, state, served, message, ...figures }) => [
        ...[name, state, served, message],
        ...[figures.rows === undefined, figures.lastBlock === undefined],
      ]),
    )
  return texts(status?.hosts) !== texts(hosts)
}

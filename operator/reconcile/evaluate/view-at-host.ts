/** How a View stands at one of the Hosts that it selects. */
import type { ReasonOf } from '../../api/conditions.ts'
import type { ViewHostStatus } from '../../api/view-status.ts'
import type { Host } from '../../api.ts'
import { networkOf, wantedOrdinals } from '../../resources/names/names.ts'
import { type HostedState, nearness, type ViewAtReplica } from '../observe/view-at-replica.ts'
import { withoutStop } from '../statements/sentences.ts'

type Reason = ReasonOf<'Served'>

/** What is known of a View and a Host. */
export interface HostSituation {
  readonly host: Host
  /** Whether the View is of the registry chain, so that the Host finds it by itself. */
  readonly isRegistered: boolean
  /** Whether its query names a collection of another chain. */
  readonly isForeign: boolean
  /** Whether the pods were made from a template that knows no Views. */
  readonly isOutdated: boolean
  /** Whether the ConfigMaps of the Host have no room for it. */
  readonly isLeft: boolean
  /** False while a replica that runs was not asked for anything yet, since the operator has just started. */
  readonly isAsked: boolean
  /** By ordinal: what the replica says; null where it does not know the View, undefined where it does not answer. */
  readonly reports: ReadonlyMap<number, ViewAtReplica | null | undefined>
}

export interface HostFinding {
  readonly reason: Reason
  readonly status: ViewHostStatus
  readonly served: number
  readonly wanted: number
}

/** Replicas in these states answer queries of it. */
const servedStates: readonly HostedState[] = ['backfilling', 'lagging', 'live']

/** What is wrong first counts: what keeps all replicas from it, then what one of them says. */
export function viewAtHost(situation: HostSituation): HostFinding {
  const { host, reports } = situation
  const ordinals = wantedOrdinals(host)
  const known = ordinals.flatMap((ordinal) => {
    const report = reports.get(ordinal)
    return report ? [{ ordinal, report }] : []
  })
  const serving = known.filter(({ report }) => servedStates.includes(report.state))
  const worst = known.toSorted((a, b) => nearness(a.report.state) - nearness(b.report.state))[0]
  const { reason, message } = findingOf(situation, ordinals, known)
  return {
    reason,
    served: serving.length,
    wanted: ordinals.length,
    status: {
      name: host.metadata.name,
      state: worst?.report.state ?? 'unknown',
      served: `${serving.length}/${ordinals.length}`,
      ...lowestFigures(serving.map(({ report }) => report)),
      ...(message === null ? {} : { message }),
    },
  }
}

interface Figures {
  readonly rows?: number | null
  readonly lastBlock?: number | null
}

/** The lowest of each figure among those that have it; left out where none has. */
export function lowestFigures(all: readonly Figures[]): Pick<ViewHostStatus, 'rows' | 'lastBlock'> {
  const rows = all.flatMap((one) => one.rows ?? [])
  const blocks = all.flatMap((one) => one.lastBlock ?? [])
  return {
    ...(rows.length === 0 ? {} : { rows: Math.min(...rows) }),
    ...(blocks.length === 0 ? {} : { lastBlock: Math.min(...blocks) }),
  }
}

interface Said {
  readonly reason: Reason
  readonly message: string | null
}

type Known = readonly { readonly ordinal: number; readonly report: ViewAtReplica }[]

function findingOf(
  { host, isRegistered, isForeign, isOutdated, isLeft, reports }: HostSituation,
  ordinals: readonly number[],
  known: Known,
): Said {
  const { name, namespace } = host.metadata
  if (isForeign) {
    const message = `Its chain is ${networkOf(host)}, and the query names a collection of another one. Give hostSelector the labels of Hosts of that chain.`
    return { reason: 'OtherChain', message }
  }
  if (ordinals.length === 0) {
    return {
      reason: 'NoReplicas',
      message: 'It has no pods, since it is scaled to 0 or suspended.',
    }
  }
  if (isOutdated) {
    const message = `Its pods read no Views before they are replaced: kubectl annotate host ${name} -n ${namespace} --overwrite viewmesh.io/roll-at=views`
    return { reason: 'HostNeedsUpdate', message }
  }
  if (isLeft) {
    const message =
      'Its eight ConfigMaps with Views are full: delete a View that nobody queries, or select another Host.'
    return { reason: 'NoRoom', message }
  }
  return (
    troubleOf(known) ??
    (known.length < ordinals.length ? absence(ordinals, reports, isRegistered) : stateOf(known))
  )
}

/** What the first replica says that refuses it or fails. */
function troubleOf(known: Known): Said | null {
  for (const { ordinal, report } of known) {
    const why = withoutStop(report.message ?? 'it says no reason')
    if (report.state === 'refused') {
      return { reason: 'Refused', message: `Replica ${ordinal} does not take it: ${why}.` }
    }
    if (report.state === 'foreign') {
      const message = `Replica ${ordinal} says that it is of another chain. Give hostSelector the labels of Hosts of that chain.`
      return { reason: 'OtherChain', message }
    }
    if (report.state === 'failed' || report.state === 'quarantined') {
      const message = `It has ${report.state} on replica ${ordinal}: ${why}. See GET /api/v0/views of the Host.`
      return { reason: 'Failing', message }
    }
    // It is tried again and again; one that is live failed at some block, and has done those after it.
    if (report.state !== 'live' && report.message !== null) {
      const message = `It makes no progress on replica ${ordinal}, and is tried again: ${why}. See GET /api/v0/views of the Host.`
      return { reason: 'Failing', message }
    }
  }
  return null
}

function absence(
  ordinals: readonly number[],
  reports: HostSituation['reports'],
  isRegistered: boolean,
): Said {
  const silent = ordinals.filter((ordinal) => reports.get(ordinal) === undefined)
  const unaware = ordinals.filter((ordinal) => reports.get(ordinal) === null)
  if (silent.length > 0) {
    return { reason: 'Pending', message: `Replica ${silent.join(', ')} does not answer yet.` }
  }
  if (isRegistered) {
    const message = `Replica ${unaware.join(', ')} does not know it: set spec.registry of the Host to the registry chain that it is on, or correct the ID.`
    return { reason: 'NotFound', message }
  }
  const message = `Replica ${unaware.join(', ')} has not read it yet, which takes up to a minute.`
  return { reason: 'Pending', message }
}

function stateOf(known: Known): Said {
  const waiting = known.filter(({ report }) => report.state === 'waiting')
  if (waiting.length > 0) {
    const which = waiting.map(({ ordinal }) => ordinal).join(', ')
    return { reason: 'Pending', message: `Replica ${which} has not computed its first block yet.` }
  }
  const renamed = known.find(({ report: { name, type } }) => name !== null && name !== type)
  if (renamed === undefined) return { reason: 'AllServe', message: null }
  const { name, type } = renamed.report
  const message = `It is named ${name} there, since another View has the name ${type}: query it by this name, or rename the type in another View.`
  return { reason: 'UnderAnotherName', message }
}

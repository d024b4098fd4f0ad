/** The condition about the signers that a Host trusts. */
import { requests } from '../../api/annotations.ts'
import { conditions, type ReasonOf } from '../../api/conditions.ts'
import type { Host } from '../../api.ts'
import { claimName, podName } from '../../resources/names/names.ts'
import type { Referred } from '../fetch/generator-peers.ts'
import {
  type ReplicaViews,
  reportingReplicas,
  type SharedFailure,
  sharedFailures,
  unobserved,
} from '../observe/reporting-replicas.ts'
import type { Statement } from '../statements/problem.ts'
import { listed } from '../statements/sentences.ts'
import { chainIssues } from './chain-issues.ts'
import type { ChangedGenerator, HostSigners } from './host-signers.ts'
import { rowOf } from './observed-codes.ts'
import type { SignersIssue } from './signers-issue.ts'

type Reason = ReasonOf<'SignersAgree'>

interface SignersFacts {
  readonly signers: HostSigners
  /** The Generators of the Host. */
  readonly referred: readonly Referred[]
  readonly views: ReplicaViews
}

/** The table has the worst reason first. */
const order = Object.keys(conditions.SignersAgree.reasons)
/** A message has room for so many besides the worst. */
const maxOthers = 2
/** Two identities of each have room, and a command with one of them. */
const maxChanged = 2

/** Whether the signers of a Host are heard and agree; otherwise the worst of what replicas report. */
export function signersStatement(
  host: Host,
  { signers, referred, views }: SignersFacts,
): Statement<Reason> {
  const reporting = reportingReplicas(views)
  const [worst, ...others] = [
    ...changedIssue(host, signers.changed),
    ...twinIssues(signers),
    ...chainIssues(host, { referred, views }),
    ...sharedFailures(reporting).flatMap((shared) => reportedFailure(host, signers, shared)),
  ].toSorted((a, b) => order.indexOf(a.reason) - order.indexOf(b.reason))
  if (worst !== undefined) {
    const also = others.slice(0, maxOthers).map(({ what }) => ` Also: ${what}`)
    const { reason, what, remedy } = worst
    return { reason, message: `${what} ${remedy}${also.join('')}` }
  }
  if (reporting.length === 0) return unobserved
  if (reporting.every(({ view }) => view.trust === null)) {
    const message = 'The pods run a version that does not report which signers it accepts.'
    return { reason: 'Unobserved', message }
  }
  return { reason: 'Agreed', message: 'The accepted signers are heard, and agree.' }
}

function changedIssue(host: Host, changed: readonly ChangedGenerator[]): SignersIssue[] {
  if (changed.length === 0) return []
  const reported = changed.slice(0, maxChanged)
  const names = reported.map(
    ({ generator, identity, said }) =>
      `Generator ${generator} says the identity ${said}; accepted of it is ${identity}`,
  )
  const more =
    changed.length > reported.length ? `. And ${changed.length - reported.length} more` : ''
  const { name, namespace } = host.metadata
  const wanted = reported.map(({ said }) => said).join(',')
  return [
    {
      reason: 'SignerChanged',
      what: `${names.join('. ')}${more}. The accepted identity stays, and the Host is not given the address of a Generator that says another.`,
      remedy: `Where it was given new keys on purpose, accept that: kubectl annotate host ${name} --namespace ${namespace} --overwrite ${requests.acceptSigners}=${wanted}. Else see who runs in its place.`,
    },
  ]
}

/** Generators with one identity count as one, and one of them lies or has a copy of the other's keys. */
function twinIssues({ accepted }: HostSigners): SignersIssue[] {
  return [...Map.groupBy(accepted, ({ identity }) => identity)]
    .filter(([, same]) => same.length > 1)
    .map(([identity, same]) => ({
      reason: 'KeyRunsTwice' as const,
      what: `Generators with one identity (${identity}), which counts once: ${listed(same.map(({ generator }) => generator))}.`,
      remedy: 'Stop one of them, and give it keys of its own.',
    }))
}

function reportedFailure(
  host: Host,
  signers: HostSigners,
  { failure, text, ordinals }: SharedFailure,
): SignersIssue[] {
  const { code, remedy = 'See the log of the pod.' } = failure
  const row = rowOf(code, 'SignersAgree')
  if (row === undefined) return []
  const [ordinal = 0] = ordinals
  const advice = row.remedy
    ?.replace('{claim}', claimName(host, 'data', ordinal))
    .replace('{pod}', podName(host, ordinal))
  return [
    {
      reason: row.reason,
      what: `Replica ${ordinals.join(', ')}: ${text} (${code}).${remarks(row.reason, text, signers)}`,
      remedy: advice ?? remedy,
    },
  ]
}

/** What the replica cannot know: the Generators of the identities, and which have not reported theirs. */
function remarks(
  reason: Reason,
  text: string,
  { accepted, unknown }: Pick<HostSigners, 'accepted' | 'unknown'>,
): string {
  const names = accepted.flatMap(({ generator, identity }) => {
    const short = identity.slice(0, shownDigits)
    return text.includes(short) ? [`${short}… is Generator ${generator}`] : []
  })
  const isWithout = reason === 'NoSigner' || reason === 'SignersFileUnusable'
  const waiting = isWithout && unknown.length > 0
  return [
    ...(names.length === 0 ? [] : [` ${listed(names, '; ')}.`]),
    ...(waiting ? [` Not known yet is the identity of Generator ${listed(unknown)}.`] : []),
  ].join('')
}

/** Of an identity a Host's messages show these. */
const shownDigits = 12

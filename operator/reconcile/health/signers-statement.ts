/** The condition about those whose word counts at a Host. */
import { requests } from '../../api/annotations.ts'
import { conditions, type ReasonOf } from '../../api/conditions.ts'
import type { Host } from '../../api.ts'
import { claimName, podName } from '../../resources/names.ts'
import { listed } from '../listed.ts'
import type { Statement } from '../problem.ts'
import {
  type AskedViews,
  askedOf,
  type SharedFailure,
  sharedFailures,
  unobserved,
} from './asked.ts'
import type { ChangedGenerator, HostSigners } from './host-signers.ts'
import { rowOf } from './observed-codes.ts'

type Reason = ReasonOf<'SignersAgree'>

/** Something to tell, and what to do about it. */
interface Trouble {
  readonly reason: Reason
  readonly what: string
  readonly remedy: string
}

export interface SignersFacts {
  readonly signers: HostSigners
  readonly views: AskedViews
}

/** The table has the worst reason first. */
const order = Object.keys(conditions.SignersAgree.reasons)
/** A message has room for so many besides the worst. */
const maxOthers = 2
/** Two identities of each have room, and a command with one of them. */
const maxChanged = 2

/** Whether the signers of a Host are heard and agree; the worst of what replicas tell, else. */
export function signersStatement(host: Host, { signers, views }: SignersFacts): Statement<Reason> {
  const asked = askedOf(views)
  const [worst, ...others] = [
    ...changedTrouble(host, signers.changed),
    ...twinTroubles(signers),
    ...sharedFailures(asked).flatMap((shared) => toldTrouble(host, signers, shared)),
  ].toSorted((a, b) => order.indexOf(a.reason) - order.indexOf(b.reason))
  if (worst !== undefined) {
    const also = others.slice(0, maxOthers).map(({ what }) => ` Also: ${what}`)
    const { reason, what, remedy } = worst
    return { reason, message: `${what} ${remedy}${also.join('')}` }
  }
  if (asked.length === 0) return unobserved
  if (asked.every(({ view }) => view.trust === null)) {
    const message = 'The pods run a version that does not say whose word counts.'
    return { reason: 'Unobserved', message }
  }
  return { reason: 'Agreed', message: 'The accepted signers are heard, and agree.' }
}

function changedTrouble(host: Host, changed: readonly ChangedGenerator[]): Trouble[] {
  if (changed.length === 0) return []
  const told = changed.slice(0, maxChanged)
  const names = told.map(
    ({ generator, identity, said }) =>
      `Generator ${generator} says the identity ${said}; accepted of it is ${identity}`,
  )
  const more = changed.length > told.length ? `. And ${changed.length - told.length} more` : ''
  const { name, namespace } = host.metadata
  const wanted = told.map(({ said }) => said).join(',')
  return [
    {
      reason: 'SignerChanged',
      what: `${names.join('. ')}${more}. The accepted identity stays, and the Host is not given the address of a Generator that says another.`,
      remedy: `Where it was given new keys on purpose, accept that: kubectl annotate host ${name} --namespace ${namespace} --overwrite ${requests.acceptSigners}=${wanted}. Else see who runs in its place.`,
    },
  ]
}

/** Generators with one identity count as one, and one of them lies or has a copy of the other's keys. */
function twinTroubles({ accepted }: HostSigners): Trouble[] {
  return [...Map.groupBy(accepted, ({ identity }) => identity)]
    .filter(([, same]) => same.length > 1)
    .map(([identity, same]) => ({
      reason: 'KeyRunsTwice' as const,
      what: `Generators with one identity (${identity}), which counts once: ${listed(same.map(({ generator }) => generator))}.`,
      remedy: 'Stop one of them, and give it keys of its own.',
    }))
}

function toldTrouble(
  host: Host,
  signers: HostSigners,
  { failure, text, ordinals }: SharedFailure,
): Trouble[] {
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

/** What the replica cannot know: which Generators it speaks of, and which have not said who they are. */
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

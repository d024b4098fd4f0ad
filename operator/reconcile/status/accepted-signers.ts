/** Whose blocks a Host stores, as its replicas say. */
import type { AcceptedSigner, HostStatus } from '../../api/status.ts'
import type { Host } from '../../api.ts'
import type { HealthView } from '../observe/health-view.ts'

/** So many are in a status. */
const maxSigners = 64

/** What replicas say that answer; what they said last, until all that run have been asked, or while none answers. */
export function acceptedSigners(
  { status }: Host,
  views: ReadonlyMap<number, HealthView | null | undefined>,
): Pick<HostStatus, 'acceptedSigners'> {
  const all = [...views.values()]
  const said = all.flatMap((view) => (view?.signers ? [view.signers] : []))
  const isKnown = said.length > 0 && !all.includes(undefined)
  const signers = isKnown ? merged(said.flat()) : (status?.acceptedSigners ?? [])
  return signers.length === 0 ? {} : { acceptedSigners: signers }
}

/** Each identity once, as the first replica has it. */
function merged(signers: readonly AcceptedSigner[]): AcceptedSigner[] {
  const byIdentity = new Map(signers.toReversed().map((signer) => [signer.identity, signer]))
  return [...byIdentity.values()]
    .toSorted((a, b) => (a.identity < b.identity ? -1 : 1))
    .slice(0, maxSigners)
}

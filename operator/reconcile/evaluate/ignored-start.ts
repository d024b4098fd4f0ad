/**
 * The start of a Generator holds for an empty store only. A data claim is marked with the one that held when its
 * first blocks were seen; where another one is set later, that is reported, since nothing else would show it.
 */
import { records } from '../../api/annotations.ts'
import type { ReasonOf } from '../../api/conditions.ts'
import type { Workload } from '../../api.ts'
import { claimName, podName } from '../../resources/names/names.ts'
import { startHeightOf } from '../../resources/pod/environment.ts'
import { isLasting } from '../observe/claim.ts'
import type { Statement } from '../statements/problem.ts'
import type { ObservedState } from './observed-state.ts'

/** What to mark a data claim with that has no mark yet; null while no block is seen, and of a Host. */
export function startMark(
  { kind }: Workload,
  { recorded, views }: Pick<ObservedState, 'recorded' | 'views'>,
): string | null {
  const hasBlocks = typeof views.get(0)?.head === 'number'
  return kind === 'Generator' && hasBlocks && recorded !== null
    ? startHeightOf(recorded.template)
    : null
}

/** That the start was changed though the store has blocks; null where it was not. */
export function ignoredStartStatement(
  resource: Workload,
  { allClaims, recorded }: Pick<ObservedState, 'allClaims' | 'recorded'>,
): Statement<ReasonOf<'StartIgnored'>> | null {
  const claim = allClaims.find(({ volume }) => volume === 'data')?.claim
  if (resource.kind !== 'Generator' || recorded === null || claim === undefined) return null
  const begun = claim.annotations[records.start]
  const wanted = startHeightOf(recorded.template)
  if (begun === undefined || begun === wanted || !isLasting(resource, claim)) return null
  const inNamespace = `--namespace ${resource.metadata.namespace}`
  const message = `The start is ${startText(wanted)} now, which has no effect: the store has blocks since it began at ${startText(begun)}, and goes on after them. Put the old start back; or, to begin again with an empty store, kubectl delete pvc ${claimName(resource, 'data', 0)} ${inNamespace} --wait=false, then kubectl delete pod ${podName(resource, 0)} ${inNamespace}.`
  return { reason: 'StoreHasBlocks', message }
}

/** A setting of the program (`src/generator/ingest/start-height.ts`) in words. */
function startText(setting: string): string {
  if (setting === 'latest') return 'the newest block'
  return setting.startsWith('-')
    ? `${setting.slice(1)} blocks behind the newest one`
    : `height ${setting}`
}

/**
 * Has the controller of a StatefulSet try now what it failed to create. By itself it tries later each time, after a
 * quarter of an hour in the end, whatever was mended since; any change of the StatefulSet makes it try at once.
 */
import { records } from '../../api/annotations.ts'
import type { Workload } from '../../api.ts'
import { childNames } from '../../resources/names/names.ts'
import { builtinTypes } from '../../runtime/client/resource-type.ts'
import type { ReconcileRun } from '../../runtime/controller.ts'
import type { ObservedState } from '../evaluate/observed-state.ts'
import type { ReconcileParts } from './reconcile-parts.ts'

/** Shortest time between two nudges. */
const nudgeMs = 30_000

/** Touches the StatefulSet, unless that was done just now, by whichever operator. */
export async function nudgeSet<R extends Workload>(
  { api, now }: Pick<ReconcileParts<R>, 'api' | 'now'>,
  resource: R,
  { set }: Pick<ObservedState, 'set'>,
  { signal, log }: ReconcileRun,
): Promise<void> {
  const nowMs = now().getTime()
  const before = Date.parse(set?.metadata?.annotations?.[records.nudgedAt] ?? '')
  if (set === null || (before <= nowMs && nowMs - before < nudgeMs)) return
  const { namespace } = resource.metadata
  const { base: name } = childNames(resource)
  const annotations = { [records.nudgedAt]: new Date(nowMs).toISOString() }
  const address = { type: builtinTypes.StatefulSet, namespace, name }
  await api.patch(address, { metadata: { annotations } }, { type: 'merge', signal })
  log.debug({ object: name }, 'the StatefulSet was touched, for its controller to try again')
}

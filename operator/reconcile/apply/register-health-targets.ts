/** Registers the replicas of a resource with the observer of health. */
import type { V1ConfigMap } from '@kubernetes/client-node'
import { records } from '../../api/annotations.ts'
import type { Workload } from '../../api.ts'
import { childNames } from '../../resources/names/names.ts'
import { addressesOf, healthTargets } from '../evaluate/health-targets.ts'
import { type ClusterView, liveChild, podsOf } from '../observe/cluster-view.ts'
import type { HealthObserver, Target } from '../observe/health-observer.ts'
import { observedName } from '../observe/observed-name.ts'

/**
 * Has the observer check the health of exactly the replicas that run now, and of their external addresses. `occasion`
 * changes with what is watched of others and may have replicas say something else; `views` are IDs of the Views that they
 * are asked for.
 */
export function registerHealthTargets(
  {
    view,
    observer,
  }: {
    readonly view: ClusterView
    readonly observer: Pick<HealthObserver, 'view' | 'watch'>
  },
  resource: Workload,
  occasion: string = '',
  views: readonly string[] = [],
): void {
  const pods = podsOf(view, resource)
  const discovered = addressesOf(view, resource, pods)
  const { internal, external } = healthTargets(observer, resource, { pods, discovered })
  const config = liveChild<V1ConfigMap>(view, resource, 'ConfigMap', childNames(resource).config)
  const read = config?.metadata?.annotations?.[records.applied]
  const occasionOf = ({ ordinal }: Target): string =>
    JSON.stringify([
      resource.metadata.generation,
      read,
      pods.get(ordinal)?.isReady,
      occasion,
      ...views,
    ])
  observer.watch(observedName(resource), [
    ...internal.map((target) => ({
      ...target,
      occasion: occasionOf(target),
      ...(views.length === 0 ? {} : { views }),
    })),
    ...external,
  ])
}

/** Volumes of blocks that have little room left, as the programs that write to them say at `/health`. */
import type { ErrorCode } from '../../../src/errors.ts'
import type { Resource } from '../../api.ts'
import { claimName, wantedOrdinals } from '../../resources/names.ts'
import { toldBefore } from '../condition-list.ts'
import { listed } from '../listed.ts'
import type { Statement } from '../problem.ts'
import { type HealthView, hasSettled } from './health-view.ts'

/** By ordinal, of running pods: null where one does not answer, undefined before it was asked. */
export type Views = ReadonlyMap<number, HealthView | null | undefined>

/** What such a program says. It is about the volume alone: everything works on. */
export const nearlyFullCode: ErrorCode = 'STORE_NEARLY_FULL'

/** Which volumes are nearly full; null for none. While a replica cannot be asked it stays as it was. */
export function nearlyFullStatement(
  resource: Resource,
  views: Views,
): Statement<'NearlyFull'> | null {
  const ordinals = wantedOrdinals(resource)
  const filling = ordinals.filter((ordinal) =>
    views.get(ordinal)?.errors.some(({ code }) => code === nearlyFullCode),
  )
  if (filling.length > 0) {
    const names = listed(filling.map((ordinal) => claimName(resource, 'data', ordinal)))
    const message = `Little room is left: ${names}. Make spec.storage.data.size larger where the StorageClass allows it, or ${fewerBlocks(resource)}, with which the stores grow no further.`
    return { reason: 'NearlyFull', message }
  }
  if (ordinals.every((ordinal) => hasSettled(views.get(ordinal)))) return null
  const message = toldBefore(resource, 'StorageReady', 'NearlyFull')
  return message === null ? null : { reason: 'NearlyFull', message }
}

function fewerBlocks({ spec }: Resource): string {
  return spec.pruning.enabled
    ? 'lower spec.pruning.maxBlocks'
    : 'set spec.pruning.enabled with spec.pruning.maxBlocks below the number of blocks that are stored'
}

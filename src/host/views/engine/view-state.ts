/** How a View stands, from what its run knows and what is stored. */
import { countHeights, intersectHeights } from '../../../primitives/height-ranges.ts'
import type { Snapshot } from '../../../store/store.ts'
import type { HostedView } from '../hosted-view.ts'
import type { Quarantine } from './failures/quarantine.ts'
import type { Setbacks } from './failures/setbacks.ts'
import type { Pace } from './pace.ts'
import type { ViewState } from './view-engine.ts'
import { backlogOf, stateName, type WorkFacts } from './view-work.ts'

/** What only the run knows. */
interface Standing {
  readonly view: Pick<HostedView, 'slot'>
  readonly pace: Pick<Pace, 'perSecond' | 'costMs'>
  readonly isReady: boolean
  readonly quarantine: Pick<Quarantine, 'reason'>
  readonly setbacks: Pick<Setbacks, 'trouble' | 'lastFailure'>
}

export function describeState(standing: Standing, snapshot: Snapshot, facts: WorkFacts): ViewState {
  const { view, pace, isReady, quarantine, setbacks } = standing
  const backlog = backlogOf(facts)
  const blocksLeft = backlog.live + backlog.backfill
  const done = snapshot.viewRanges(view.slot)
  const blocksFailed = countHeights(
    intersectHeights(snapshot.viewFailures(view.slot), facts.visible),
  )
  const isAnyDone = done.length > 0
  const isWaiting = !isReady || (!isAnyDone && blocksFailed === 0)
  const quarantined = quarantine.reason()
  const isQuarantined = quarantined !== null
  const lastFailure = isReady && blocksFailed > 0 ? setbacks.lastFailure(snapshot) : null
  return {
    name: stateName({ isQuarantined, isWaiting, isAnyDone, backlog, blocksFailed }),
    ...snapshot.viewSize(view.slot),
    done,
    rowsFrom: snapshot.viewFrom(view.slot) || null,
    blocksLeft,
    blocksFailed,
    blocksPerSecond: blocksLeft > 0 ? pace.perSecond() : null,
    costMs: pace.costMs(),
    failure: quarantined ?? setbacks.trouble() ?? lastFailure,
  }
}

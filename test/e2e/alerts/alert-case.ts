/** How a case of an alert is written: series that Prometheus reads once a minute, and what fires then. */

/** An alert that fires, without its severity. */
interface Fired {
  readonly labels: Readonly<Record<string, string>>
  readonly summary: string
}

export interface AlertCase {
  /** What is the case, which ends the title of a test. */
  readonly when: string
  /**
   * Values by series as promtool has them: `1x20` is 1 for 21 minutes, `0+60x20` grows by 60 each minute, `stale` is the
   * end of a series, `_` is no sample.
   */
  readonly series: Readonly<Record<string, string>>
  /** Minutes after the first value. */
  readonly at: number
  /** Empty where it does not fire. */
  readonly fires: readonly Fired[]
}

/** A gauge of one pod that is above or below a bound for long enough, and what stands just on the other side of it. */
export function gaugeCases(
  name: string,
  given: {
    readonly bad: string
    readonly good: string
    readonly minutes: number
    readonly fires: readonly Fired[]
  },
): AlertCase[] {
  const { bad, good, minutes, fires } = given
  return [
    { when: 'once it has lasted', series: { [name]: `${bad}x60` }, at: minutes + 1, fires },
    {
      when: 'not before it has lasted',
      series: { [name]: `${bad}x60` },
      at: minutes - 1,
      fires: [],
    },
    {
      when: 'not just short of the bound',
      series: { [name]: `${good}x60` },
      at: minutes + 1,
      fires: [],
    },
    {
      when: 'no longer once it ended',
      series: { [name]: `${bad}x${minutes + 1} ${good}x20` },
      at: minutes + 3,
      fires: [],
    },
  ]
}

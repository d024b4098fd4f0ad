/** What `lens doctor` says of a lens: one statement for each thing that it examines. */

/** In the order in which they are examined; each is a section of the page. */
export const checkNames = [
  'imports',
  'exports',
  'both feeds',
  'nil',
  'end of stream first',
  'missing arguments',
  'wrong arguments',
  'memory',
  'determinism',
] as const

type CheckName = (typeof checkNames)[number]

export interface LensCheck {
  readonly name: CheckName
  /** A lens with a failure is not fit for a View; with a warning, for some Views or Hosts only. */
  readonly outcome: 'passed' | 'warning' | 'failed'
  readonly message: string
  /** Where it is explained, from the folder of a clone. */
  readonly page: string
}

/** Makes a check with its page. */
export function checkOf(
  name: CheckName,
  outcome: LensCheck['outcome'],
  message: string,
): LensCheck {
  return {
    name,
    outcome,
    message,
    page: `docs/views/lens-doctor.md#${name.replaceAll(' ', '-')}`,
  }
}

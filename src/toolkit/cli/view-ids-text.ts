/** The two IDs of a View in a sentence for people. */

/** The service's, and behind it that of the registry chain. */
export function viewIDsText({
  id,
  address,
}: {
  readonly id: string
  readonly address: string
}): string {
  return `${id} (${address})`
}

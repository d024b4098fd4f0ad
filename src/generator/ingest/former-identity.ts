/**
 * Whether the store of a Generator was sealed with another key than the program signs with now, as after its key
 * directory was replaced or lost: nobody else seals what is in it.
 */
import { ServiceError } from '../../errors.ts'
import type { Seal } from '../../primitives/seal.ts'
import type { Snapshot } from '../../store/store.ts'

/** Who sealed the newest blocks of the store, this one among them. */
export interface FormerIdentity {
  /** The public key, in hex. */
  readonly identity: string
  readonly height: number
}

/** Among how many of the newest blocks it is looked for, and until how many follow it is reported. */
const newestBlocks = 1_000

/**
 * Null where none of the newest blocks was sealed by another identity before `own` did: a program seals all stored
 * blocks at its start, so that a key which is back finds later seals of the one that replaced it.
 */
export function findFormerIdentity(
  snapshot: Pick<Snapshot, 'range' | 'seals'>,
  own: string,
): FormerIdentity | null {
  const range = snapshot.range()
  if (range === null) return null
  for (let height = range.head; isAmongNewest({ height }, range); height -= 1) {
    const identity = firstSigner(snapshot.seals(height), own)
    if (identity !== null && identity !== own) return { identity, height }
  }
  return null
}

/** Who sealed first; of several in one second, `own`. Null for nobody. */
function firstSigner(seals: readonly Seal[], own: string): string | null {
  const [firstAt] = seals.map(({ createdAt }) => createdAt).toSorted()
  const first = seals.filter(({ createdAt }) => createdAt === firstAt)
  const signers = first.map(({ signatureIdentity }) => signatureIdentity)
  return signers.includes(own) ? own : (signers[0] ?? null)
}

/** Whether a stored block is among the newest. */
export function isAmongNewest(
  { height }: Pick<FormerIdentity, 'height'>,
  { tail, head }: { readonly tail: number; readonly head: number },
): boolean {
  return height >= tail && height > head - newestBlocks
}

/** What `/health` and the log say of it. */
export function identityReplaced(own: string, { identity, height }: FormerIdentity): ServiceError {
  return new ServiceError(
    'GENERATOR_IDENTITY_REPLACED',
    `Blocks up to ${height} were sealed with the identity ${identity}, and this Generator signs with ${own} now.`,
    {
      facts: { former: identity, identity: own, height },
      remedy:
        'Where this was not meant, stop, put the former key directory back (DB_KEY_PATH, with its DB_KEYRING_SECRET), and start: Hosts that accept the former identity alone refuse new blocks. Where it was meant, have those Hosts accept the new identity (HOST_TRUSTED_SIGNERS).',
    },
  )
}

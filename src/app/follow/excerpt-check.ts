/** Takes in what a Host signed, as far as it counts for the application. */
import { ServiceError } from '../../errors.ts'
import { isStatementSigned } from '../../mesh/signed-claims.ts'
import { decodeStatementExcerpt, type StatementExcerpt } from '../../row-votes/statement-excerpt.ts'

interface ExcerptContext {
  /** As in `Ethereum__Mainnet`. */
  readonly network: string
  /** Views that are followed: what is said of others goes. */
  readonly views: readonly string[]
  isAccepted(identity: string): boolean
  /** Whether it says nothing new, so that its signature need not be verified. */
  isKnown(excerpt: StatementExcerpt): boolean
}

/**
 * The excerpt where an accepted Host signed it; `ignored` where it is another one's or known; `forged` where no honest
 * peer sends it.
 */
export function readExcerpt(
  bytes: Uint8Array,
  { network, views, isAccepted, isKnown }: ExcerptContext,
): StatementExcerpt | 'ignored' | 'forged' {
  const whole = decode(bytes)
  if (whole === null || whole.network !== network) return 'forged'
  const excerpt = about(whole, views)
  if (excerpt.leaves.length === 0 || !isAccepted(excerpt.signatureIdentity) || isKnown(excerpt))
    return 'ignored'
  return isStatementSigned(excerpt) ? excerpt : 'forged'
}

function decode(bytes: Uint8Array): StatementExcerpt | null {
  try {
    return decodeStatementExcerpt(bytes)
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}

/** What it says of these Views. */
function about(excerpt: StatementExcerpt, views: readonly string[]): StatementExcerpt {
  const proofs = excerpt.proofs.filter(({ leaf }) => views.includes(leaf.view))
  return { ...excerpt, proofs, leaves: proofs.map(({ leaf }) => leaf) }
}

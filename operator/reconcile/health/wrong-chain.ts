/** A Generator whose execution node is on another chain ends, so it cannot say so at `/health`. */
import type { ReasonOf } from '../../api/conditions.ts'
import type { Generator } from '../../api.ts'
import { claimName, podName } from '../../resources/names.ts'
import type { Statement } from '../problem.ts'
import type { LastWords } from './last-words.ts'

const blockHash = /^0x[0-9a-f]{64}$/

/** What its last words say of the execution node; null where they are about something else. */
export function wrongChainStatement(
  generator: Generator,
  words: LastWords | null,
): Statement<ReasonOf<'UpstreamReachable'>> | null {
  const remedy = words === null ? null : wrongChainRemedy(generator, words)
  if (words === null || remedy === null) return null
  return { reason: 'WrongChain', message: `${words.message} (${words.code}). ${remedy}` }
}

/** What to do about it in a cluster, where the program's own advice does not help; null as above. */
export function wrongChainRemedy(generator: Generator, words: LastWords): string | null {
  if (!isOfOtherChain(words)) return null
  const claim = claimName(generator, 'data', 0)
  return `Correct spec.upstream; or, to store the other chain from now on, kubectl delete pvc ${claim} --wait=false, then kubectl delete pod ${podName(generator, 0)}, and let Hosts that have the old chain fetch theirs anew the same way.`
}

/**
 * Whether none of its blocks is the node's, or the two have another genesis block. A store can also be
 * foreign by its network or its program, of which the node knows nothing: then names differ, not hashes.
 */
function isOfOtherChain({ code, difference }: LastWords): boolean {
  if (code === 'GENERATOR_CHAIN_CHANGED') return true
  if (code !== 'STORE_FOREIGN' || difference === null) return false
  return blockHash.test(difference.found) && blockHash.test(difference.expected)
}

/**
 * Which condition and reason follow from a failure that a program reports at `/health` or in its termination
 * message: one table of codes, with what to do about it in a cluster where the program's own advice is about a machine.
 */
import type { ErrorCode } from '../../../src/errors.ts'
import type { ConditionType, ReasonOf } from '../../api/conditions.ts'

/** What a code comes to. */
type ObservedRow = {
  readonly [T in ConditionType]: {
    readonly condition: T
    readonly reason: ReasonOf<T>
    /** What to do, in place of what the program advises; `{claim}` and `{pod}` are of the replica that reports it. */
    readonly remedy?: string
  }
}[ConditionType]

const signers = 'SignersAgree'
const peers = 'PeersConnected'
const schema = 'SchemaInSync'
const upstream = 'UpstreamReachable'

/** Where a Host's spec says which signers it trusts. */
const lists = 'spec.generators, spec.trustedSigners or spec.bootstrapPeers'

/** Every code that a condition follows. */
export const observedCodes: Readonly<Partial<Record<ErrorCode, ObservedRow>>> = {
  HOST_NO_SIGNER: {
    condition: signers,
    reason: 'NoSigner',
    remedy:
      'Name Generators of this cluster in spec.generators, identities of others in spec.trustedSigners, or peers that are Generators in spec.bootstrapPeers; behind another Host only the first two do.',
  },
  HOST_GENESIS_MISMATCH: {
    condition: signers,
    reason: 'ChainMismatch',
    remedy: `Where the chain was created again, have its blocks fetched again: kubectl delete pvc {claim} --wait=false, then kubectl delete pod {pod}; else take that Generator off ${lists}.`,
  },
  HOST_SIGNER_BELOW: {
    condition: signers,
    reason: 'ChainForked',
    remedy:
      'Where that chain was begun again, have its blocks fetched again: kubectl delete pvc {claim} --wait=false, then kubectl delete pod {pod}; else see whether the node of that Generator is in sync.',
  },
  HOST_FORK_DEEP: {
    condition: signers,
    reason: 'ChainForked',
    remedy:
      'See to the execution nodes of the Generators where no reorganisation of that depth was expected.',
  },
  HOST_FORK_TOO_DEEP: {
    condition: signers,
    reason: 'ChainForked',
    remedy: `See to the others, or take those off ${lists} that are gone for good; more than half of all accepted signers decide.`,
  },
  HOST_SIGNERS_DISAGREE: { condition: signers, reason: 'SignersDisagree' },
  HOST_SIGNER_CHANGED: {
    condition: signers,
    reason: 'SignerChanged',
    remedy:
      'Where that Generator was given a new key on purpose, take it off spec.bootstrapPeers, wait until this message is gone, and add it again; else see who has its keyring secret.',
  },
  HOST_SIGNER_TWICE: { condition: signers, reason: 'KeyRunsTwice' },
  HOST_SIGNERS_FILE_UNUSABLE: {
    condition: signers,
    reason: 'SignersFileUnusable',
    remedy:
      'See whether the Generators of spec.generators are Ready and report their identity (kubectl get generators -o wide); the operator writes the file from that.',
  },
  HOST_SIGNER_SILENT: {
    condition: signers,
    reason: 'SignerSilent',
    remedy: `See whether that Generator runs, reaches its execution node, and is connected with this Host or another one; take it off ${lists} if it is gone for good.`,
  },
  HOST_STANDS_STILL: {
    condition: signers,
    reason: 'NothingStored',
    remedy:
      'See PeersConnected, and the log of the pod for blocks that are refused; kubectl delete pod {pod} starts it again.',
  },
  HOST_TRUSTS_ANYONE: {
    condition: signers,
    reason: 'TrustsAnyone',
    remedy: 'Set no HOST_TRUST in spec.podTemplate; anyone is for experiments.',
  },
  P2P_PEER_ID_MISMATCH: { condition: peers, reason: 'PeerIDMismatch' },
  P2P_OTHER_NETWORK: {
    condition: peers,
    reason: 'PrefixMismatch',
    remedy: 'Correct spec.bootstrapPeers, or create another Host for that chain.',
  },
  P2P_ALL_DIALS_FAILED: {
    condition: peers,
    reason: 'NotConnected',
    remedy: 'See whether that peer runs, and whether port 9171 is open to it.',
  },
  HOST_SCHEMA_UNAUTHORIZED: { condition: schema, reason: 'Unauthorized' },
  HOST_SCHEMA_UNREADABLE: { condition: schema, reason: 'Unreadable' },
  HOST_SCHEMA_UNREACHABLE: { condition: schema, reason: 'Unreachable' },
  HOST_NETWORK_UNKNOWN: { condition: schema, reason: 'Unreachable' },
  CHAIN_UNREACHABLE: {
    condition: upstream,
    reason: 'Unreachable',
    remedy: 'See whether it runs, and whether spec.upstream says where.',
  },
  CHAIN_TIMEOUT: {
    condition: upstream,
    reason: 'Unreachable',
    remedy: 'See whether it runs, and whether spec.upstream says where.',
  },
  CHAIN_UNAUTHORIZED: {
    condition: upstream,
    reason: 'Unauthorized',
    remedy: 'Correct the Secret of spec.upstream.auth.',
  },
  CHAIN_METHOD_MISSING: {
    condition: upstream,
    reason: 'MethodMissing',
    remedy:
      'Correct spec.upstream, or switch on the eth methods of that node for HTTP and WebSocket.',
  },
  GENERATOR_KEY_RUNS_TWICE: {
    condition: 'IdentityReady',
    reason: 'KeyRunsTwice',
    remedy:
      'Stop the other program, which has a copy of its key directory; a second Generator needs a key directory of its own.',
  },
  STORE_NEARLY_FULL: { condition: 'StorageReady', reason: 'NearlyFull' },
}

const rows: Readonly<Record<string, ObservedRow>> = observedCodes

/** What a code leads to; undefined where the table does not have it. */
export function observedRow(code: string): ObservedRow | undefined {
  return Object.hasOwn(rows, code) ? rows[code] : undefined
}

/** The same where that is about this condition. */
export function rowOf<T extends ConditionType>(code: string, condition: T): RowOf<T> | undefined {
  const row = observedRow(code)
  return row?.condition === condition ? (row as RowOf<T>) : undefined
}

/** Rows about one condition. */
type RowOf<T extends ConditionType> = Extract<ObservedRow, { readonly condition: T }>

/** The table of docs/security.md that says what peers may send, from the bounds in the code. */
import { followLimits } from '../../src/follow/follow-limits.ts'
import { laneSlots } from '../../src/host/sync/pull-plan.ts'
import { uselessMs } from '../../src/host/sync/sync.ts'
import { maxHeadBytes } from '../../src/p2p/gossip/gossip.ts'
import { maxRpcBytes } from '../../src/p2p/gossip/gossip-frames.ts'
import { type Fault, faultWeights, mishaps } from '../../src/p2p/limits/fault.ts'
import { defaultLimits } from '../../src/p2p/limits/limits.ts'
import { defaultBurstSeconds } from '../../src/p2p/limits/rates.ts'
import type { Shares } from '../../src/p2p/limits/remote.ts'
import { maxIdentifyBytes, maxPingBytes } from '../../src/p2p/node.ts'
import { minPartBytes } from '../../src/p2p/range/range-frames.ts'
import { maxRequestBytes, maxResponseBytes } from '../../src/p2p/streams/requests.ts'

const limits = defaultLimits

/** One line of the table. */
interface Row {
  readonly what: string
  readonly size: string
  readonly amount: readonly string[]
  readonly above: string
  readonly faults: readonly Fault[]
}

function bytes(count: number): string {
  if (count === Number.POSITIVE_INFINITY) return 'any'
  if (count >= 1024 * 1024) return `${count / 1024 / 1024} MiB`
  return count >= 1024 ? `${count / 1024} KiB` : `${count} bytes`
}

/** `16 MiB / 2 MiB / 8 MiB a second`: of a configured peer, of the strangers of an address, of all. */
function shares(
  { configured, address, strangers }: Shares,
  each: (amount: number) => string,
): string {
  return [configured, address, strangers].map(each).join(' / ')
}

function plain(count: number): string {
  return count === Number.POSITIVE_INFINITY ? 'any' : `${count}`
}

function seconds(ms: number): string {
  return `${ms / 1000} s`
}

const gossip = [
  `${shares(limits.gossipBytes, bytes)} a second`,
  `${shares(limits.gossipMessages, plain)} frames and messages a second`,
  `${shares(limits.pendingMessages, plain)} messages and ${shares(limits.pendingBytes, bytes)} that wait for their verdict`,
]
const requests = `${shares(limits.requests, plain)} a second, with questions and ranges together`
const waits = `waits up to ${seconds(limits.requestWaitMs)}, then is refused; more than ${limits.requestsPerSecond} a second of one peer are a fault`

const rows: readonly Row[] = [
  {
    what: 'A connection',
    size: '',
    amount: [
      `${limits.maxConnections} in all, of which ${limits.reservedConnections} are left to configured peers; ${limits.connectionsPerAddress} of strangers from an address, ${limits.connectionsPerPeer} with one peer`,
      `${limits.connectionsPerSecond} new ones a second from an address`,
    ],
    above:
      'refused; configured peers always get in, for whom the stranger leaves that was of the least use',
    faults: [],
  },
  {
    what: 'A handshake',
    size: '',
    amount: [
      `${limits.handshakesPerSecond} a second, addresses taking turns; ${limits.handshakesPerAddress} at a time from an address, ${limits.handshakesTotal} in all`,
    ],
    above: 'the oldest of the address with the most is closed',
    faults: [],
  },
  {
    what: 'Bytes of any kind',
    size: '',
    amount: [
      `${shares(limits.receivedBytes, bytes)} a second, with a price on small frames; no more at once`,
    ],
    above: 'read more slowly',
    faults: [],
  },
  {
    what: 'A gossip frame',
    size: bytes(maxRpcBytes),
    amount: [`${shares(limits.partialBytes, bytes)} of frames that are not complete`],
    above: 'dropped',
    faults: ['malformed message', 'oversize message', 'stalled writer', 'unread gossip'],
  },
  {
    what: 'A gossiped block, or its seals alone',
    size: bytes(limits.maxGossipBytes),
    amount: gossip,
    above: 'dropped; another peer’s copy is still taken',
    faults: ['rejected message', 'oversize message'],
  },
  {
    what: 'A gossiped head',
    size: bytes(maxHeadBytes),
    amount: ['the same budgets as blocks'],
    above: 'dropped',
    faults: ['rejected message', 'oversize message'],
  },
  {
    what: 'A request for a range of blocks',
    size: '64 bytes',
    amount: [
      requests,
      `${shares(limits.rangeStreams, plain)} at a time, of one peer ${limits.streamsPerPeer}`,
      `${shares(limits.rangeBytes, bytes)} a second sent in answer`,
    ],
    above: `${waits}; answers are sent more slowly`,
    faults: [
      'malformed frame',
      'oversize frame',
      'protocol violation',
      'stalled reader',
      'stalled writer',
      'too many streams',
      'request flood',
    ],
  },
  {
    what: 'An answer with blocks',
    size: `${bytes(limits.maxBlockBytes)} a block`,
    amount: [
      `${limits.pullsPerPeer} at a time of one peer, ${bytes(limits.windowBytes)} ahead of what is taken, in frames of ${bytes(minPartBytes)} at least`,
      `a Host pulls ${laneSlots.configured} at a time from configured peers, and beside them ${laneSlots.others} from strangers`,
      `${seconds(limits.pullStallMs)} for each step and each MiB of a block, ${seconds(uselessMs)} to the next block of use`,
    ],
    above: 'ended; another peer is asked',
    faults: [
      'rejected message',
      'malformed frame',
      'oversize frame',
      'protocol violation',
      'stalled writer',
    ],
  },
  {
    what: 'Addresses and protocols of a peer, and whether it is there (`identify` and `ping` of libp2p)',
    size: bytes(maxIdentifyBytes),
    amount: [`${bytes(maxPingBytes)} of pings to a stream`],
    above: 'that stream is ended',
    faults: [],
  },
  {
    what: 'A stream by which an application follows Views (`views`, of Hosts alone)',
    size: `${bytes(followLimits.requestBytes)} a frame, those of the Host ${bytes(followLimits.frameBytes)}`,
    amount: [
      requests,
      `${shares(limits.channelStreams, plain)} at a time, ${followLimits.views} Views each`,
      `${bytes(followLimits.windowBytes)} ahead of what is taken`,
      `${shares(limits.channelBytes, bytes)} a second sent`,
    ],
    above: `is told busy; more than ${limits.requestsPerSecond} a second of one peer are a fault; frames are sent more slowly`,
    faults: [
      'malformed frame',
      'oversize frame',
      'protocol violation',
      'stalled reader',
      'stalled writer',
      'request flood',
    ],
  },
  ...[
    'who a peer is (`identity`)',
    'votes (`votes`)',
    'what Hosts signed of rows (`row-votes`, of Hosts alone)',
  ].map(
    (about): Row => ({
      what: `A question about ${about}`,
      size: `${bytes(maxRequestBytes)}, its answer ${bytes(maxResponseBytes)}`,
      amount: [requests, `${shares(limits.requestStreams, plain)} at a time`],
      above: waits,
      faults: ['malformed frame', 'oversize frame', 'stalled writer', 'request flood'],
    }),
  ),
]

/** Markdown: a line for each kind of message, and what faults lead to. */
export function peerMessagesTable(): string {
  const lines = rows.map(({ what, size, amount, above, faults }) => {
    const weights = faults.map((fault) => `${fault} ${faultWeights[fault]}`).join(', ')
    return `| ${what} | ${size} | ${amount.join('; ')} | ${above} | ${weights} |`
  })
  const head =
    '| What | At most | How much: a configured peer / strangers of an address / all strangers | Above it | Faults |'
  return [head, '| --- | --- | --- | --- | --- |', ...lines, '', consequences].join('\n')
}

const minutes = limits.banMs / 60_000
const consequences = `Where so much a second is allowed, ${defaultBurstSeconds} seconds' worth may come at once. What is above a bound is no fault, and
a message that nobody we accept has signed is none either: it is neither stored nor passed on, and costs its sender
nothing but its rate. A fault costs its sender the points in the last column. One point comes back a minute, and one
with each accepted message; at ${limits.banScore} a peer is cut off and banned for ${minutes} minutes. The faults of an address's strangers add up,
except for what happens to honest peers on a bad line (${[...mishaps].join(', ')}): at ${limits.addressBanScore} all its
strangers are banned for ${minutes} minutes, and its configured peers are not.`

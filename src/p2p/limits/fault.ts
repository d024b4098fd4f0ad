/** What peers can do wrong. What is bounded by a budget is no fault: it waits, or is dropped. */

/** Every fault and how much it costs. Four faults of the common weight end in a ban. */
export const faultWeights = {
  'rejected message': 25,
  'malformed message': 25,
  'oversize message': 50,
  'unread gossip': 10,
  'malformed frame': 25,
  'oversize frame': 50,
  'protocol violation': 25,
  'stalled reader': 20,
  'stalled writer': 20,
  'too many streams': 10,
  'request flood': 10,
  reported: 25,
} as const

export type Fault = keyof typeof faultWeights

/** What can happen to an honest peer on a bad line: its address does not answer for these. */
export const mishaps: ReadonlySet<Fault> = new Set<Fault>([
  'unread gossip',
  'stalled reader',
  'stalled writer',
])

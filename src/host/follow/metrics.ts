/** What is counted of followers. */
import { Counter, type Registry } from 'prom-client'
import type { HostFrame } from '../../follow/host-frames.ts'
import { declareScrapedGauge } from '../../scraped-gauge.ts'

/** Why a follower ended: it left, it broke the protocol, this Host failed, or the error that it was sent. */
export type FollowEnd = 'left' | 'fault' | 'failed' | 'unknown' | 'pruned' | 'slow' | 'unavailable'

export interface FollowMetrics {
  sent(kind: HostFrame['kind'], bytes: number): void
  ended(reason: FollowEnd): void
}

/** Declares the metrics in `registry`. */
export function createFollowMetrics(registry: Registry, followers: () => number): FollowMetrics {
  declareScrapedGauge(registry, {
    name: 'viewmesh_host_followers',
    help: 'Streams by which applications follow Views of this Host now.',
    read: followers,
  })
  const frames = new Counter({
    name: 'viewmesh_host_follow_frames_total',
    help: 'Frames sent to followers, by kind.',
    labelNames: ['kind'],
    registers: [registry],
  })
  const sentBytes = new Counter({
    name: 'viewmesh_host_follow_bytes_total',
    help: 'Bytes of frames sent to followers.',
    registers: [registry],
  })
  const ended = new Counter({
    name: 'viewmesh_host_follow_ended_total',
    help: 'Followers that ended, by reason: left, fault (they broke the protocol), failed (this Host did), or the error that they were sent.',
    labelNames: ['reason'],
    registers: [registry],
  })
  return {
    sent: (kind, bytes) => {
      frames.inc({ kind })
      sentBytes.inc(bytes)
    },
    ended: (reason) => ended.inc({ reason }),
  }
}

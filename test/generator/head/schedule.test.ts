/** When a head is signed, as a table; times are in seconds. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type HeadState,
  nextHeadStep,
  startingHeadState,
} from '../../../src/generator/head/schedule.ts'
import { defaultHeadTiming } from '../../../src/generator/head/timing.ts'

const now = 100

interface Case {
  /** When the node answered the newest block last. */
  readonly confirmed?: number
  readonly signed?: number
  readonly asked?: number
  /** Whether there is a newer block, or a newer head at a peer, than the last head tells of. */
  readonly news?: boolean
  readonly lacks?: 'block 0' | 'a sealed block'
  readonly step: 'rest' | 'ask' | 'sign' | `wait ${number}`
}

const cases: Readonly<Record<string, Case>> = {
  'the first sealed block is signed at once': { confirmed: now, news: true, step: 'sign' },
  'nothing is signed before block 0 is known': {
    confirmed: now,
    news: true,
    lacks: 'block 0',
    step: 'rest',
  },
  'nothing is signed without a sealed block': { news: true, lacks: 'a sealed block', step: 'rest' },
  'a block right after a head waits: two a second at most': {
    confirmed: now,
    signed: now - 0.2,
    news: true,
    step: 'wait 0.3',
  },
  'a block half a second after a head is signed': {
    confirmed: now,
    signed: now - 0.5,
    news: true,
    step: 'sign',
  },
  'without a new block a head rests for 15 seconds': {
    confirmed: now - 2,
    signed: now - 2,
    step: 'wait 13',
  },
  'then the node is asked whether it still has the block': {
    confirmed: now - 15,
    signed: now - 15,
    step: 'ask',
  },
  'and with its answer the head is signed again': {
    confirmed: now,
    signed: now - 15,
    step: 'sign',
  },
  'a node that does not answer is asked again after five seconds': {
    confirmed: now - 16,
    signed: now - 15.9,
    asked: now - 0.9,
    step: 'wait 4.1',
  },
  'which is not a moment sooner': {
    confirmed: now - 16,
    signed: now - 15.9,
    asked: now - 4.999,
    step: 'wait 0.001',
  },
  'as often as it takes, and nothing is signed meanwhile': {
    confirmed: now - 600,
    signed: now - 599,
    asked: now - 5,
    step: 'ask',
  },
  'a block whose seal took longer than 15 seconds has to be confirmed first': {
    confirmed: now - 15.1,
    signed: now - 40,
    news: true,
    step: 'ask',
  },
  'one whose node answered just less than 15 seconds ago has not': {
    confirmed: now - 14.999,
    signed: now - 40,
    news: true,
    step: 'sign',
  },
  'without a new block a head is due after 15 seconds, and not a moment sooner': {
    confirmed: now - 1,
    signed: now - 14.999,
    step: 'wait 0.001',
  },
  'so has what is stored after a restart': { news: true, step: 'ask' },
  'and what the node contradicted': { signed: now - 1, news: true, step: 'ask' },
}

const milliseconds = (seconds: number | undefined): number | null =>
  seconds === undefined ? null : Math.round(1_000 * seconds)

describe('a head', () => {
  for (const [
    name,
    { confirmed, signed, asked, news = false, lacks, step: expected },
  ] of Object.entries(cases))
    test(name, () => {
      const state: HeadState = {
        ...startingHeadState,
        genesisHash: lacks === 'block 0' ? null : '0x00',
        tip: lacks === 'a sealed block' ? null : { number: 7, hash: '0x07' },
        confirmedMs: milliseconds(confirmed),
        signedMs: milliseconds(signed),
        askedMs: milliseconds(asked),
        isNews: news,
      }
      const step = nextHeadStep(state, defaultHeadTiming, 1_000 * now)
      assert.equal(step.kind === 'wait' ? `wait ${step.ms / 1_000}` : step.kind, expected)
    })
})

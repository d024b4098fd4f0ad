/** Which registered Views may have a place, and what is shown of those that have none. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Candidates, createCandidates } from '../../../src/host/registry/candidates.ts'
import type { NotServed } from '../../../src/host/registry/outcomes.ts'
import type { Standing } from '../../../src/host/registry/view-filter.ts'
import type { ViewOfHost } from '../../../src/host/registry/views-of-host.ts'
import type { ListedView } from '../../../src/registry/listed-view.ts'

const sender = `0x${'11'.repeat(20)}`
const listed = (id: string, registeredAt: number, name = 'Type'): ListedView => {
  return { id, sender, name, registeredAt }
}

interface Scene {
  readonly outcomes?: Readonly<Record<string, Partial<NotServed>>>
  /** How Views of these names stand, or with one of these IDs. */
  readonly standing?: Readonly<Record<string, Standing>>
}

function open({ outcomes = {}, standing = {} }: Scene = {}): Candidates {
  const nothing = { reason: '', bytes: 0, fields: 0, proven: null, untilMs: 1 }
  return createCandidates({
    outcomes: {
      of: (id) => {
        const outcome = outcomes[id]
        return outcome === undefined ? null : { state: 'overLimit', ...nothing, ...outcome }
      },
    },
    filter: ({ ids, name }) =>
      [name, ...ids].map((key) => standing[key]).find((each) => each !== undefined) ?? 'neither',
  })
}

function served(id: string, rest: Partial<ViewOfHost>): ViewOfHost {
  const whole = { id, address: `address of ${id}`, creator: sender, type: 'Type', state: 'live' }
  const room = { origins: ['registry'], bytes: 5, fields: 2 }
  return { ...whole, ...room, ...rest } as unknown as ViewOfHost
}

const shown = (candidates: Candidates, views: readonly ViewOfHost[] = []): string[] =>
  candidates.others(views).map(({ id, state }) => `${id} ${state}`)

describe('a place', () => {
  test('may be for what the Host has of the chain, in the order in which it came', () => {
    const candidates = open({ standing: { Allowed: 'allowed', 'address of d': 'denied' } })
    const views = [
      served('a', {}),
      served('b', { origins: ['registry', 'posted'] }),
      served('c', { type: 'Allowed' }),
      served('d', {}),
      served('e', { state: 'foreign' }),
    ]
    const room = { isServed: true, bytes: 5, fields: 2 }
    assert.deepEqual(candidates.list(views), [
      { ...room, id: 'a', isAllowed: false, order: 0 },
      { ...room, id: 'c', isAllowed: true, order: 1 },
    ])
  })

  test('may be for what is listed and not here, in the order of registration', () => {
    const candidates = open({
      outcomes: { full: { bytes: 9, fields: 3 }, bad: { state: 'refused' } },
      standing: { Allowed: 'allowed', Denied: 'denied' },
    })
    const names = [listed('allowed', 7, 'Allowed'), listed('denied', 8, 'Denied')]
    const known = [listed('address of a', 1), listed('b', 2)]
    candidates.add([...names, ...known, listed('full', 3), listed('bad', 4)])
    const room = { isServed: false, bytes: 0, fields: 0 }
    const views = [served('a', { origins: ['posted'] }), served('b', { state: 'foreign' })]
    assert.deepEqual(candidates.list(views), [
      { ...room, id: 'allowed', isAllowed: true, order: 7 },
      { ...room, id: 'full', isAllowed: false, order: 3, bytes: 9, fields: 3 },
    ])
  })

  test('is for a View by what its bytes have proven, where they were fetched', () => {
    const proven = { ids: ['long', 'one'], sender, name: 'Allowed' }
    const standing = { Allowed: 'allowed', Type: 'denied' } as const
    const candidates = open({ outcomes: { one: { proven } }, standing })
    candidates.add([listed('one', 1), listed('other', 2)])
    assert.equal(candidates.standing(listed('one', 1)), 'allowed')
    assert.equal(candidates.standing(listed('other', 2)), 'denied')
    assert.deepEqual(
      candidates.list([]).map(({ id, isAllowed }) => [id, isAllowed]),
      [['one', true]],
    )
  })
})

describe('of thousands of Views', () => {
  const many = Array.from({ length: 3_998 }, (_, index) => listed(`n${index}`, 10 + index))
  const newestFirst = many.toReversed()

  test('allowed ones are remembered, and denied and refused ones forgotten first', () => {
    const candidates = open({
      outcomes: { refused: { state: 'refused' } },
      standing: { Allowed: 'allowed', Denied: 'denied' },
    })
    const late = listed('allowed', 99_999, 'Allowed')
    const others = [listed('denied', 1, 'Denied'), listed('refused', 2), ...newestFirst]
    candidates.add(others)
    assert.ok(candidates.get('denied') !== undefined, 'there may be 4,000 for a while')
    candidates.add([late])
    assert.equal(candidates.get('denied'), undefined)
    assert.equal(candidates.get('refused'), undefined)
    assert.deepEqual(candidates.get('allowed'), late)
    assert.ok(candidates.get('n1998') !== undefined)
    assert.equal(candidates.get('n1999'), undefined)
  })

  test('a thousand are shown, those that cannot be read first', () => {
    const candidates = open()
    candidates.addUnreadable({ id: 'broken', reason: 'its ID is invalid' })
    candidates.add(many)
    const others = shown(candidates)
    assert.equal(others.length, 1_000)
    assert.deepEqual(
      [others[0], others[1], others[999]],
      ['broken refused', 'n0 overLimit', 'n998 overLimit'],
    )
  })
})

describe('a View that cannot be read', () => {
  const reason = 'its ID is invalid'

  test('is shown until the list after has ended without it', () => {
    const candidates = open()
    candidates.addUnreadable({ id: 'old', reason })
    candidates.listEnded()
    candidates.addUnreadable({ id: 'new', reason })
    assert.deepEqual(shown(candidates), ['old refused', 'new refused'])
    candidates.listEnded()
    assert.deepEqual(shown(candidates), ['new refused'])
    candidates.listEnded()
    assert.deepEqual(shown(candidates), [])
  })

  test('is shown with its newest reason, and not where it was read elsewhere or is here', () => {
    const candidates = open()
    for (const id of ['a', 'address of b', 'c', 'd'])
      candidates.addUnreadable({ id, reason: 'an older one' })
    candidates.listEnded()
    candidates.addUnreadable({ id: 'd', reason })
    candidates.add([listed('c', 1)])
    const views = [served('a', {}), served('b', {})]
    assert.deepEqual(
      candidates.others(views).map((other) => [other.id, other.reason]),
      [
        ['d', reason],
        ['c', null],
      ],
    )
  })

  test('is one of a hundred at most', () => {
    const candidates = open()
    for (let number = 0; number <= 100; number += 1)
      candidates.addUnreadable({ id: `${number}`, reason })
    assert.equal(candidates.others([]).at(-1)?.id, '99')
  })
})

test('Views that are not served are shown as denied, or with what became of them', () => {
  const candidates = open({
    outcomes: {
      bad: { state: 'refused', reason: 'it is no good' },
      far: { state: 'foreign', reason: 'it reads another chain' },
    },
    standing: { Denied: 'denied' },
  })
  candidates.add([listed('bad', 1), listed('far', 2), listed('no', 3, 'Denied'), listed('new', 4)])
  assert.deepEqual(shown(candidates), ['bad refused', 'far foreign', 'no denied', 'new overLimit'])
})

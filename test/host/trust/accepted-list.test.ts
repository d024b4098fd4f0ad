/** The accepted signers and their reasons, decision by decision. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AcceptedList, createAcceptedList } from '../../../src/host/trust/accepted-list.ts'

const entriesOf = (list: AcceptedList): string[] =>
  list.sources().map(({ identity, source, peer }) => [identity, source, peer ?? '-'].join(' '))

describe('under bootstrap', () => {
  const open = (pins = {}): AcceptedList =>
    createAcceptedList({ mode: 'bootstrap', listed: [], pins })

  test('a bootstrap peer that proves a Generator is accepted, and stays so', () => {
    const list = open()
    assert.ok(list.prove('peer', 'A'))
    assert.ok(!list.prove('peer', 'A'))
    assert.deepEqual(entriesOf(list), ['A bootstrap peer'])
    assert.deepEqual(list.pins(), { peer: 'A' })
  })

  test('what was proven before holds after a restart', () => {
    assert.deepEqual(entriesOf(open({ peer: 'A' })), ['A bootstrap peer'])
  })

  test('another identity at a pinned peer is refused, and both are named', () => {
    const list = open({ peer: 'A' })
    assert.ok(!list.prove('peer', 'B'))
    assert.deepEqual(entriesOf(list), ['A bootstrap peer'])
    assert.deepEqual(list.changed(), [{ peer: 'peer', pinned: 'A', found: 'B' }])
    list.keepPeers(['peer'])
    assert.equal(list.changed().length, 1, 'as long as it is a bootstrap peer')
    list.prove('peer', 'A')
    assert.deepEqual(list.changed(), [])
  })

  test('a peer that is taken off the list loses its pin, and can prove another identity later', () => {
    const list = open({ gone: 'A', stays: 'B' })
    list.prove('gone', 'C')
    assert.ok(list.keepPeers(['stays', 'new']))
    assert.ok(!list.keepPeers(['stays', 'new']))
    assert.deepEqual(entriesOf(list), ['B bootstrap stays'])
    assert.deepEqual(list.changed(), [])
    assert.ok(list.prove('gone', 'C'))
  })

  test('the file of signers adds to them; each identity is there once', () => {
    const list = open({ peer: 'A' })
    list.setFile(['F', 'A'])
    assert.deepEqual(entriesOf(list), ['F file -', 'A file -'])
    list.setFile([])
    assert.deepEqual(entriesOf(list), ['A bootstrap peer'])
  })
})

test('under signers the list and the file count, and what bootstrap peers prove does not', () => {
  const list = createAcceptedList({ mode: 'signers', listed: ['A'], pins: { peer: 'B' } })
  list.setFile(['F'])
  list.prove('other', 'C')
  assert.deepEqual(entriesOf(list), ['A setting -', 'F file -'])
})

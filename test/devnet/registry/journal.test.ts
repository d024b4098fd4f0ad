import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openJournal } from '../../../src/devnet/registry/journal.ts'
import type { ChainView } from '../../../src/devnet/registry/ledger.ts'
import { testDirectory } from '../../support/test-store.ts'

const view: ChainView = {
  ...{ address: '0xa', creator: '0xc', name: 'Ünïque', height: 7 },
  wire: Uint8Array.of(0, 1, 254, 255),
}
const views = {
  kind: 'views' as const,
  transaction: {
    ...{ height: 7, id: 'one' },
    steps: [
      { kind: 'pending' as const, view },
      { kind: 'failed' as const, view: { ...view, wire: new Uint8Array() }, error: 'why' },
    ],
  },
}
const sent = {
  kind: 'sent' as const,
  sent: { hash: '0x1', inner: '0x2', gasUsed: '3', gasPrice: '4', fields: { nonce: '5' } },
}

test('what was written is there in its order when the journal is opened again', (t) => {
  const folder = testDirectory(t)
  const first = openJournal(folder)
  assert.deepEqual(first.entries, [])
  first.append(views)
  first.append(sent)
  first.close()
  assert.throws(() => first.append(sent), { code: 'EBADF' })
  const second = openJournal(folder)
  assert.deepEqual(second.entries, [views, sent])
  second.append(views)
  second.close()
  const third = openJournal(folder)
  assert.deepEqual(third.entries, [views, sent, views])
  third.close()
  assert.equal(statSync(join(folder, 'registry.jsonl')).mode & 0o777, 0o600)
})

test('a line that was cut short is dropped, and the next begins on its own', (t) => {
  const folder = testDirectory(t)
  const path = join(folder, 'registry.jsonl')
  const first = openJournal(folder)
  first.append(views)
  first.close()
  const whole = readFileSync(path)
  appendFileSync(path, '{"kind":"views","transac')
  const second = openJournal(folder)
  assert.deepEqual(second.entries, [views])
  assert.deepEqual(readFileSync(path), whole)
  second.append(sent)
  second.close()
  const third = openJournal(folder)
  assert.deepEqual(third.entries, [views, sent])
  third.close()
})

test('a journal that cannot be read is no empty one', (t) => {
  const folder = testDirectory(t)
  mkdirSync(join(folder, 'registry.jsonl'))
  assert.throws(() => openJournal(folder), { code: 'EISDIR', syscall: 'read' })
})

test('without a folder nothing is kept', () => {
  const journal = openJournal(null)
  journal.append(sent)
  journal.close()
  assert.deepEqual(openJournal(null).entries, [])
})

/** The heights that texts name: a filter by them reads no other blocks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attestationRecord, attestedDoc } from '../../../src/graphql/catalog/attestation-record.ts'
import type { Entity } from '../../../src/graphql/catalog/entity.ts'
import { viewAttestation } from '../../../src/graphql/catalog/view-attestation.ts'
import { viewEntity } from '../../../src/graphql/catalog/view-entity.ts'
import { testNetwork } from '../../support/chain/sealed-blocks.ts'
import { servedView } from '../support/served-views.ts'

const root = 'a'.repeat(64)

function heightOf(entity: Entity, attribute: string, text: string): number | null | undefined {
  return entity.attributes.get(attribute)?.heightOf?.(text)
}

test('a record of a block is named by its height and root, its text by the height alone', () => {
  const record = attestationRecord(testNetwork)
  const cases: readonly (readonly [text: string, ofText: number | null, ofID: number | null])[] = [
    [attestedDoc(0, root), 0, 0],
    [attestedDoc(17, root), 17, 17],
    ['block:17:%', 17, null],
    [`block:17:${root}0`, 17, null],
    ['block:17', null, null],
    [`block:017:${root}`, null, null],
    [`block:-1:${root}`, null, null],
    [`ablock:17:${root}`, null, null],
    [`view:17:${root}`, null, null],
  ]
  for (const [text, ofText, ofID] of cases) {
    assert.equal(heightOf(record, 'attested_doc', text), ofText, text)
    assert.equal(heightOf(record, '_docID', `attestation-${text}`), ofID, text)
    for (const other of [text, `observation-${text}`])
      assert.equal(heightOf(record, '_docID', other), null, other)
  }
})

test('a record of a View’s rows is named by that View, its height and more', () => {
  const served = servedView('type Transfer { from: String }')
  const { view } = viewEntity(served, null)
  assert.ok(view !== undefined)
  const record = viewAttestation(view)
  const cases: Readonly<Record<string, number | null>> = {
    [`view:${served.id}:17:${root}:3`]: 17,
    [`view:${served.id}:0:%`]: 0,
    [`view:${served.id}:17`]: 17,
    [`view:${served.id}:${'9'.repeat(15)}:%`]: 999_999_999_999_999,
    [`view:${served.id}:1${'0'.repeat(15)}:%`]: null,
    [`view:${served.id}:017:%`]: null,
    [`view:${served.id}:%`]: null,
    [`view:0x${'0'.repeat(64)}:17:%`]: null,
    [`block:17:${root}`]: null,
  }
  for (const [text, height] of Object.entries(cases)) {
    assert.equal(heightOf(record, 'attested_doc', text), height, text)
    assert.equal(heightOf(record, '_docID', `attestation-${text}`), height, text)
    for (const other of [text, `observation-${text}`])
      assert.equal(heightOf(record, '_docID', other), null, other)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Start } from '../../../../operator/api/generator-spec.ts'
import type { Generator } from '../../../../operator/api.ts'
import { noAnswers } from '../../../../operator/reconcile/apply/answers.ts'
import { claimChanges } from '../../../../operator/reconcile/apply/apply-claims.ts'
import {
  ignoredStartStatement,
  startMark,
} from '../../../../operator/reconcile/evaluate/ignored-start.ts'
import type { PlacedClaim } from '../../../../operator/reconcile/observe/claim.ts'
import { parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import { generatorPodTemplate } from '../../../../operator/resources/pod/pod-template.ts'
import type { TemplateRecord } from '../../../../operator/resources/pod/template-record.ts'
import {
  generatorContext,
  readGenerator,
  readHost,
} from '../../../support/resources/operator-cases.ts'
import { boundClaims } from '../../support/operator-findings.ts'

const minimal = readGenerator('generator-minimal')
const startingAt = (start?: Start): Generator => ({
  ...minimal,
  spec: { ...minimal.spec, ...(start && { start }) },
})
const recordedOf = (start?: Start): TemplateRecord => ({
  inputs: '',
  template: generatorPodTemplate(startingAt(start), generatorContext),
})
const viewsOf = (head: number | null) =>
  new Map([[0, parseHealth(JSON.stringify({ program: 'generator', head }))]])
const claimsWith = (start: string, more: object = {}): PlacedClaim[] =>
  boundClaims(minimal).map((placed) => {
    const annotations = placed.volume === 'data' ? { 'viewmesh.io/start': start } : {}
    return { ...placed, claim: { ...placed.claim, annotations, ...more } }
  })
const reported = (allClaims: readonly PlacedClaim[], start?: Start): string | undefined =>
  ignoredStartStatement(minimal, { allClaims, recorded: recordedOf(start) })?.message

test('a data claim is marked with its start once the store has blocks', () => {
  const recorded = recordedOf({ height: 21 })
  assert.equal(startMark(minimal, { recorded, views: viewsOf(null) }), null)
  assert.equal(startMark(minimal, { recorded, views: new Map() }), null)
  assert.equal(startMark(minimal, { recorded: null, views: viewsOf(3) }), null)
  assert.equal(startMark(minimal, { recorded, views: viewsOf(0) }), '21')
  assert.equal(startMark(minimal, { recorded: recordedOf(), views: viewsOf(3) }), 'latest')
  assert.equal(startMark(readHost('host-minimal'), { recorded, views: viewsOf(3) }), null)
})

test('the mark stays on the data claim, whatever the start is later', () => {
  const marks = { fingerprints: new Map(), start: '50' }
  const facts = { marks, answers: noAnswers() }
  const marked = (claims: readonly PlacedClaim[]) =>
    claimChanges(minimal, claims, facts, () => true).flatMap(({ placed, object }) => {
      const mark = object.metadata?.annotations?.['viewmesh.io/start']
      return mark === undefined ? [] : [[placed.volume, mark]]
    })
  assert.deepEqual(marked(boundClaims(minimal)), [['data', '50']])
  assert.deepEqual(marked(claimsWith('21')), [['data', '21']])
})

test('another start than that of the stored blocks is reported with both ways out', () => {
  assert.equal(
    reported(claimsWith('-100'), { height: 50 }),
    'The start is height 50 now, which has no effect: the store has blocks since it began at 100 blocks behind the newest one, and goes on after them. Put the old start back; or, to begin again with an empty store, kubectl delete pvc data-mainnet-generator-0 --namespace validators --wait=false, then kubectl delete pod mainnet-generator-0 --namespace validators.',
  )
  assert.match(reported(claimsWith('21')) ?? '', /^The start is the newest block now/)
})

test('nothing is reported of the same start, an empty store, or one that is being deleted', () => {
  assert.equal(reported(claimsWith('21'), { height: 21 }), undefined)
  assert.equal(reported(claimsWith('latest'), { behindHead: 0 }), undefined)
  assert.equal(reported(boundClaims(minimal), { height: 50 }), undefined)
  assert.equal(reported(claimsWith('21', { isTerminating: true }), { height: 50 }), undefined)
  assert.equal(reported([], { height: 50 }), undefined)
})

test('nothing is reported of a Host, and before a pod was made', () => {
  const allClaims = claimsWith('21')
  const host = readHost('host-minimal')
  assert.equal(ignoredStartStatement(host, { allClaims, recorded: recordedOf() }), null)
  assert.equal(ignoredStartStatement(minimal, { allClaims, recorded: null }), null)
})

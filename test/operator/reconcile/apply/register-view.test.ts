import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ViewResource } from '../../../../operator/api.ts'
import type { ReconcileParts } from '../../../../operator/reconcile/apply/reconcile-parts.ts'
import { registerView } from '../../../../operator/reconcile/apply/register-view.ts'
import { captureLog } from '../../../support/captured-log.ts'
import { hostContext } from '../../../support/resources/operator-cases.ts'
import { plainDefinition, registration, viewWith } from '../../../support/resources/view-cases.ts'

test('while Jobs cannot be read none is made, since it may be there', async () => {
  const view = viewWith('senders', { definition: plainDefinition, registration }, 'apps')
  const failure = new Error('jobs cannot be read')
  const parts = {
    options: { defaults: { ...hostContext.defaults, toolkitImage: 'toolkit:1' } },
    view: { jobs: { reflectorOf: () => ({ unread: () => failure }), get: () => undefined } },
  } as unknown as ReconcileParts<ViewResource>
  const names = { id: `0x${'1'.repeat(64)}`, address: `0x${'2'.repeat(40)}`, type: 'Sender' }
  const read = { ...names, file: { name: `${names.id}.view`, bytes: '' } }
  const run = { signal: new AbortController().signal, log: captureLog().log }
  await assert.rejects(registerView(parts, view, read, run), failure)
})

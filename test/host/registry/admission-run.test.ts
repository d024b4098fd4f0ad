/** Decisions that meet a change of the lists while they are under way. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAdmission } from '../../../src/host/registry/admission.ts'
import type { SentView } from '../../../src/registry/listed-view.ts'
import { viewIDs } from '../../../src/views/view-id.ts'
import { encodeView } from '../../../src/views/wire.ts'
import { captureLog } from '../../support/captured-log.ts'

const sender = `0x${'11'.repeat(20)}`

function sentView(name: string, registeredAt: number): SentView {
  const sdl = `type ${name} { address: String }`
  const wire = encodeView({ query: 'Log { address }', sdl, lenses: [] })
  return { id: viewIDs(sender, wire).address, sender, name, registeredAt, wire }
}

test('what is denied while Views are admitted is not served, nor fetched', async () => {
  const views = [sentView('First', 1), sentView('Second', 2)]
  const fetched: string[] = []
  const served: string[] = []
  const denied = new Set<string>()
  const admission = openAdmission(
    { maxViews: 9, maxBytes: 1, maxFields: 9 },
    {
      log: captureLog().log,
      views: {
        list: () => [],
        register: async ({ sender: by }) => {
          served.push(by)
          throw new Error('nothing is served')
        },
        kept: () => [],
        noteRegistered: async () => undefined,
        withdraw: async () => undefined,
      },
      fetch: async (id) => {
        const view = views.find((each) => each.id === id)
        fetched.push(String(view?.name))
        for (const { name } of views) denied.add(name)
        admission.decide()
        return view ?? null
      },
      outcomes: { of: () => null, note: () => undefined },
      checker: {
        check: async () => ({
          ...viewIDs(sender, new Uint8Array()),
          lenses: [],
          foreign: null,
          type: 'First',
          fields: 1,
        }),
        rest: async () => undefined,
      },
      filter: ({ name }) => (denied.has(name) ? 'denied' : 'neither'),
      mayDecide: () => true,
      count: () => undefined,
      onFatal: assert.ifError,
    },
  )
  admission.listed(views)
  admission.decide()
  await new Promise((resolve) => setImmediate(resolve))
  await admission.close()
  assert.deepEqual([fetched, served], [['First'], []])
})

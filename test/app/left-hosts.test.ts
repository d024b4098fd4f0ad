/** Who feeds where every Host was left for a while. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { captureLog } from '../support/captured-log.ts'
import { createMadeChain, lied } from './support/made-chain.ts'
import { openMadeHost } from './support/made-host.ts'
import { openTestApp, topOf, untilState } from './support/test-app.ts'

test('where every Host was left, the liar that was left last is not the first to feed again', {
  timeout: 30_000,
}, async (t) => {
  const chain = createMadeChain()
  chain.grow(5)
  let isSigning = false
  const liar = await openMadeHost(t, { chain, alter: lied })
  const silent = await openMadeHost(t, { chain, signs: () => isSigning })
  const honest = await openMadeHost(t, { chain })
  const { log, line } = captureLog()
  const app = await openTestApp(t, {
    ...{ hosts: [liar, silent, honest], minimumHosts: 2, log },
    patience: { checkMs: 50, stallMs: 200 },
  })
  await line('another Host feeds, since this one is behind or alone', 3)
  isSigning = true
  silent.drop()
  const { views } = await untilState(app, (state) => topOf(state) === 4)
  assert.equal(views[0]?.rows, 10)
})

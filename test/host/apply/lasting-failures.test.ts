/** What a Host says of its signers at `/health` while something about them lasts, and that it stops saying so. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertExplained } from '../../docs/support/explained.ts'
import { createChain, forkChain, shapes } from '../../support/chain/block-factory.ts'
import { headMessage } from '../../support/chain/signed-heads.ts'
import { storedChain } from '../../support/test-store.ts'
import {
  alice,
  at,
  bob,
  carol,
  codesOf,
  expected,
  explainedFailure,
  openApplier,
  seal,
} from './open-applier.ts'

const common = createChain({ count: 5, from: 1, shape: shapes.empty })
const left = forkChain(common, 5, { count: 1, shape: shapes.empty })
const right = forkChain(common, 5, { seed: 'right', count: 2, shape: shapes.empty })
const [ours, theirs] = [at(left, -1), at(right, -1)]

test('HOST_SIGNERS_DISAGREE: equal halves are named for an hour, and nothing above is stored', async (t) => {
  const host = await openApplier(t, { accepted: [alice, bob] })
  const sayAgain = (): void => {
    host.stand(ours, alice)
    host.stand(theirs, bob)
  }
  sayAgain()
  for (const block of [...seal(left), ...seal(right, bob)]) await host.receive(block)
  for (let seconds = 0; seconds < 60; seconds += 15) {
    assert.deepEqual(codesOf(host), [], `after ${seconds} s`)
    await host.pass(15_000)
    sayAgain()
  }
  for (let minutes = 1; minutes < 60; minutes += 0.5) {
    const text = explainedFailure(host, 'HOST_SIGNERS_DISAGREE')
    for (const part of [alice, bob].map(({ identity }) => identity.slice(0, 12)))
      assert.ok(text.includes(part), part)
    for (const { number, hash } of [ours, theirs, at(common, -1)])
      assert.ok(text.includes(`block ${number} (${hash.slice(0, 12)}`), `block ${number}`)
    await host.pass(30_000)
    sayAgain()
  }
  assert.deepEqual(storedChain(host.store.reader), expected(common))

  host.stand(theirs, alice, bob)
  await host.pass(0)
  assert.deepEqual(codesOf(host), [])
  assert.deepEqual(storedChain(host.store.reader), expected(right))
})

test('HOST_SIGNERS_DISAGREE: short forks of seconds report nothing and remove no block', async (t) => {
  const host = await openApplier(t, { accepted: [alice, bob] })
  for (let round = 0; round < 20; round += 1) {
    host.stand(ours, alice)
    host.stand(theirs, bob)
    for (const block of [...seal(left), ...seal(right, bob)]) await host.receive(block)
    await host.pass(20_000)
    assert.deepEqual(codesOf(host), [])
    host.stand(at(common, -1), alice, bob)
    assert.deepEqual(codesOf(host), [])
    await host.pass(20_000)
  }
  assert.deepEqual(
    host.writes.map(({ removed }) => removed).filter((removed) => removed > 0),
    [],
  )
})

test('HOST_SIGNERS_DISAGREE: a head whose block nobody serves is reported with its signer', async (t) => {
  const host = await openApplier(t, { accepted: [alice, bob, carol] })
  const nowhere = { number: 6, hash: `0x${'77'.repeat(32)}` }
  const sayAgain = (): void => {
    host.stand(ours, alice, bob)
    host.stand(nowhere, carol)
  }
  sayAgain()
  for (const block of seal(left)) await host.receive(block)
  assert.deepEqual(codesOf(host), [])
  await host.pass(61_000)
  sayAgain()
  await host.pass(61_000)
  sayAgain()
  assert.match(
    explainedFailure(host, 'HOST_SIGNERS_DISAGREE'),
    new RegExp(`${carol.identity.slice(0, 12)}… says block 6 \\(0x7777777777…\\), which no peer`),
  )
  assert.deepEqual(storedChain(host.store.reader), expected(left))
})

test('HOST_FORK_TOO_DEEP: one of two signers replaces nothing deep while the other is silent', async (t) => {
  const host = await openApplier(t, { accepted: [alice, bob] })
  const chain = createChain({ count: 80, from: 1, shape: shapes.empty })
  host.stand(at(chain, -1), alice, bob)
  await Promise.all(seal(chain).map(host.receive))
  const fork = forkChain(chain, 10, { count: 71, shape: shapes.empty })
  await Promise.all(seal(fork.slice(10)).map(host.receive))
  for (let turn = 0; turn < 10; turn += 1) {
    await host.pass(30_000)
    host.stand(at(fork, -1), alice)
  }
  const text = explainedFailure(host, 'HOST_FORK_TOO_DEEP')
  assert.match(text, new RegExp(`${bob.identity.slice(0, 12)}… is silent`))
  assert.match(text, /leaves the last 70 stored blocks behind/)
  assert.deepEqual(storedChain(host.store.reader), expected(chain))

  for (let turn = 0; turn < 3; turn += 1) {
    host.stand(at(fork, -1), alice, bob)
    await host.pass(30_000)
  }
  assert.deepEqual(codesOf(host), [])
  assert.deepEqual(storedChain(host.store.reader), expected(fork))
})

test('HOST_SIGNER_SILENT is reported after 90 s without a head of a signer, until the next one', async (t) => {
  const host = await openApplier(t, { accepted: [alice, bob] })
  host.stand(ours, alice)
  for (const block of seal(left)) await host.receive(block)
  await host.pass(89_000)
  assert.deepEqual(codesOf(host), [])
  await host.pass(2_000)
  for (const failure of host.applier.state().failures) assertExplained(failure)
  const text = host.applier.state().failures.map(({ code, message }) => `${code}: ${message}`)
  assert.deepEqual(text, [
    `HOST_SIGNER_SILENT: The signer ${alice.identity.slice(0, 12)}… has been silent for 91 seconds.`,
    `HOST_SIGNER_SILENT: The signer ${bob.identity.slice(0, 12)}… has not been heard since the start.`,
  ])
  host.stand(ours, alice, bob)
  assert.deepEqual(codesOf(host), [])
})

test('HOST_SIGNER_TWICE: two heads with one sequence are two programs with one key', async (t) => {
  const host = await openApplier(t)
  const say = ({ number, hash }: typeof ours): void => {
    host.applier.receiveHead(headMessage(alice, { number, hash, sequence: 9 }))
  }
  say(ours)
  say(ours)
  assert.deepEqual(codesOf(host), [])
  say(theirs)
  const text = explainedFailure(host, 'HOST_SIGNER_TWICE')
  assert.match(text, new RegExp(`${alice.identity.slice(0, 12)}… signed two different heads`))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Workload } from '../../../../operator/api.ts'
import type { IdentityPlan } from '../../../../operator/reconcile/evaluate/identity.ts'
import { advisedPods } from '../../../../operator/reconcile/status/pod-advice.ts'
import { readGenerator, readHost } from '../../../support/resources/operator-cases.ts'
import { podWith } from '../../support/operator-findings.ts'

const host = readHost('host-minimal')
const generator = readGenerator('generator-minimal')
const fine: IdentityPlan = { generate: [], problem: null, lack: null }

/** What is said of pod 0 that crashed with these words. */
function adviceFor(
  resource: Workload,
  code: string,
  identity: IdentityPlan | null,
  facts: object = {},
): string {
  const err = { code, message: 'It ended.', remedy: 'Set a variable.', facts }
  const message = JSON.stringify({ level: 'fatal', err })
  const pod = podWith(resource, {
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated: { exitCode: 1, message } },
  })
  const [advised] = advisedPods(resource, new Map([[0, pod]]), identity)
  return advised?.failure?.message ?? ''
}

const crash = (code: string): string =>
  `container program: CrashLoopBackOff (ended with code 1): It ended (${code}).`

test('a pod that crashed with a wrong key says how to go on once the key is right again', () => {
  assert.equal(
    adviceFor(host, 'IDENTITY_LOCKED', fine),
    `${crash('IDENTITY_LOCKED')} By its fingerprint, key "0" of Secret mainnet-host-keyring is now the one for claim keys-mainnet-host-0: the pod starts by itself within five minutes, and kubectl delete pod mainnet-host-0 --namespace apps hastens it. Where it still ends so, restore the key files on that claim from your backup.`,
  )
  const own = `${crash('IDENTITY_LOCKED')} Set a variable.`
  const problem = { reason: 'IdentityConflict', message: 'No.' } as const
  assert.equal(adviceFor(host, 'IDENTITY_LOCKED', { ...fine, problem }), own)
  const lack = { reason: 'KeyMissing', message: 'No.' } as const
  assert.equal(adviceFor(host, 'IDENTITY_LOCKED', { ...fine, lack }), own)
  assert.equal(adviceFor(host, 'IDENTITY_LOCKED', null), own)
})

test('a Generator of another chain than its node says what to change in the cluster', () => {
  const code = 'GENERATOR_CHAIN_CHANGED'
  assert.equal(
    adviceFor(generator, code, fine),
    `${crash(code)} Correct spec.upstream; or, to store the other chain from now on, kubectl delete pvc data-mainnet-generator-0 --wait=false, then kubectl delete pod mainnet-generator-0, and let Hosts that have the old chain fetch theirs again the same way.`,
  )
})

test('a Generator of another chain than its spec names says what to correct, or how to begin', () => {
  const code = 'GENERATOR_CHAIN_MISMATCH'
  assert.equal(
    adviceFor(generator, code, fine),
    `${crash(code)} Correct spec.upstream; or, where that chain is meant, delete this Generator, and create it with names of its own in spec.chain, such as {name: Local, network: Devnet}, in place of Ethereum and Mainnet, and a Host for it likewise.`,
  )
  const chain = { ...generator.spec.chain, id: 1 }
  assert.equal(
    adviceFor({ ...generator, spec: { ...generator.spec, chain } }, code, fine),
    `${crash(code)} Correct spec.upstream or spec.chain.id.`,
  )
})

test('hashes that differ are of another chain only where the store says that it is of another', () => {
  const facts = { found: `0x${'a'.repeat(64)}`, expected: `0x${'b'.repeat(64)}` }
  const adviceOn = (code: string): string => adviceFor(generator, code, fine, facts)
  assert.match(adviceOn('STORE_FOREIGN'), /Correct spec\.upstream; or, to store the other chain/)
  assert.equal(adviceOn('STORE_LOCKED'), `${crash('STORE_LOCKED')} Set a variable.`)
})

test('a pod whose store is full says how its volume becomes larger', () => {
  const code = 'STORE_FULL'
  const larger = `${crash(code)} Make spec.storage.data.size larger; the StorageClass of claim data-mainnet-host-0 has to allow that.`
  assert.equal(
    adviceFor(host, code, fine),
    `${larger} Where its file system grows at a start of the pod only, set spec.storage.restartToResize as well.`,
  )
  const storage = { ...host.spec.storage, restartToResize: true }
  assert.equal(adviceFor({ ...host, spec: { ...host.spec, storage } }, code, fine), larger)
})

test('any other pod says what its program advises', () => {
  const code = 'STORE_LOCKED'
  assert.equal(adviceFor(generator, code, fine), `${crash(code)} Set a variable.`)
})

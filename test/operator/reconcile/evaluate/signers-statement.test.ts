/** What the condition SignersAgree says, from what replicas of a Host say and what Generators say of themselves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Host } from '../../../../operator/api.ts'
import type { HostSigners } from '../../../../operator/reconcile/evaluate/host-signers.ts'
import { signersStatement } from '../../../../operator/reconcile/evaluate/signers-statement.ts'
import { type HealthView, parseHealth } from '../../../../operator/reconcile/observe/health-view.ts'
import { unobserved } from '../../../../operator/reconcile/observe/reporting-replicas.ts'
import type { FailureReport } from '../../../../src/service/contract.ts'
import { startingState, toHealthReport } from '../../../../src/service/health/health-report.ts'
import { identity, readHost } from '../../../support/resources/operator-cases.ts'

const host = readHost('host-minimal')
const { name, namespace } = host.metadata
const other = `03${'a'.repeat(64)}`
const none: HostSigners = { accepted: [], remembered: [], changed: [], unknown: [], peers: [] }
const accepted = [{ generator: 'validators/first', identity }]

/** What is read of the answer of a Host that reports these failures. */
function reporting(...errors: readonly FailureReport[]): HealthView {
  const state = { ...startingState('Ethereum', 'Mainnet'), trust: 'bootstrap' as const, errors }
  const context = { program: 'host', version: '1.2.3', startedMs: 0, nowMs: 1_000 } as const
  const view = parseHealth(JSON.stringify(toHealthReport(state, context)))
  assert.ok(view)
  return view
}

const failure = (code: string, message: string): FailureReport => ({
  code,
  message,
  remedy: 'Do what the program says.',
})

function reported(
  views: readonly (HealthView | null)[],
  signers: Partial<HostSigners> = {},
  of: Host = host,
): ReturnType<typeof signersStatement> {
  const found = { ...none, ...signers }
  return signersStatement(of, {
    signers: found,
    referred: [],
    views: new Map(views.entries()),
  })
}

test('signers that are heard and agree give the reason Agreed', () => {
  assert.deepEqual(reported([reporting()], { accepted }), {
    reason: 'Agreed',
    message: 'The accepted signers are heard, and agree.',
  })
})

test('the condition is Unobserved where no pod answers, or where pods are of an earlier version', () => {
  assert.deepEqual(reported([null]), unobserved)
  assert.deepEqual(reported([{ ...reporting(), trust: null }]), {
    reason: 'Unobserved',
    message: 'The pods run a version that does not report which signers it accepts.',
  })
  assert.equal(reported([{ ...reporting(), trust: null }, reporting()]).reason, 'Agreed')
})

test('sides that disagree are named as the Host names them, with the Generators that they are', () => {
  const sides = `The accepted signers do not agree: ${identity.slice(0, 12)}… on block 7 (0xaaaaaaaaaa…); ${other.slice(0, 12)}… on block 8 (0xbbbbbbbbbb…); block 5 (0xcccccccccc…) is shared by most`
  const disagree = failure('HOST_SIGNERS_DISAGREE', `${sides}.`)
  const views = [reporting(), reporting(disagree), reporting(disagree)]
  const silent = { generator: 'validators/second', identity: `02${'b'.repeat(64)}` }
  assert.deepEqual(reported(views, { accepted: [...accepted, silent] }), {
    reason: 'SignersDisagree',
    message: `Replica 1, 2: ${sides} (HOST_SIGNERS_DISAGREE). ${identity.slice(0, 12)}… is Generator validators/first. Do what the program says.`,
  })
})

test('a fork that is too deep names who is missing, and where a signer is taken off', () => {
  const message = `The signers that count are on a branch to block 90 (0xaa…) that leaves the last 70 stored blocks behind, and that is more than they may decide alone: ${other.slice(0, 12)}… is silent.`
  assert.deepEqual(reported([reporting(failure('HOST_FORK_TOO_DEEP', message))]), {
    reason: 'ChainForked',
    message: `Replica 0: ${message.slice(0, -1)} (HOST_FORK_TOO_DEEP). See to the others, or take those off spec.generators, spec.trustedSigners or spec.bootstrapPeers that are gone for good; more than half of all accepted signers decide.`,
  })
})

test('another genesis names the volume to empty, of the replica that reports it', () => {
  const { message } = reported([
    reporting(),
    reporting(failure('HOST_GENESIS_MISMATCH', 'It is another.')),
  ])
  assert.match(message, new RegExp(`kubectl delete pvc data-${name}-host-1 --wait=false`))
  assert.match(message, new RegExp(`kubectl delete pod ${name}-host-1;`))
})

test('all signers that are silent are reported, up to three', () => {
  const silent = [1, 2, 3, 4].map((each) =>
    failure('HOST_SIGNER_SILENT', `The signer ${each} has not been heard since the start.`),
  )
  const { reason, message } = reported([reporting(...silent)])
  assert.equal(reason, 'SignerSilent')
  assert.match(message, /signer 1 .*; The signer 2 .*; The signer 3 .*; and 1 more \(HOST_SIGNER_/)
})

test('the worst comes first, and two others beside it', () => {
  const { reason, message } = reported([
    reporting(
      failure('HOST_TRUSTS_ANYONE', 'Anyone.'),
      failure('HOST_SIGNER_SILENT', 'Silent.'),
      failure('HOST_SIGNER_TWICE', 'Twice.'),
      failure('HOST_NO_SIGNER', 'None.'),
    ),
  ])
  assert.equal(reason, 'NoSigner')
  assert.match(message, /^Replica 0: None \(HOST_NO_SIGNER\)\. Name Generators/)
  assert.match(
    message,
    / Also: Replica 0: Twice \(HOST_SIGNER_TWICE\)\. Also: Replica 0: Silent \(/,
  )
  assert.doesNotMatch(message, /ANYONE/)
})

test('without a signer the message names the Generators that have not reported an identity yet', () => {
  const unknown = ['validators/first']
  const { message } = reported([reporting(failure('HOST_NO_SIGNER', 'None.'))], { unknown })
  assert.match(message, / Not known yet is the identity of Generator validators\/first\. /)
})

test('a Generator with another identity names both, and the command that accepts it', () => {
  const changed = [{ generator: 'validators/first', identity, said: other }]
  assert.deepEqual(reported([reporting()], { accepted, changed }), {
    reason: 'SignerChanged',
    message: `Generator validators/first says the identity ${other}; accepted of it is ${identity}. The accepted identity stays, and the Host is not given the address of a Generator that says another. Where it was given new keys on purpose, accept that: kubectl annotate host ${name} --namespace ${namespace} --overwrite viewmesh.io/accept-signers=${other}. Else see who runs in its place.`,
  })
  assert.equal(reported([null], { changed }).reason, 'SignerChanged', 'also while no pod answers')
})

test('of more than two Generators that changed, two are named and accepted at once', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((digit) => `03${digit.repeat(64)}`)
  const changed = [a, b, c].map((said = '', index) => ({ generator: `v/${index}`, identity, said }))
  const { message } = reported([reporting()], { changed })
  const whom = (index: number, said = ''): string =>
    `Generator v/${index} says the identity ${said}; accepted of it is ${identity}. `
  assert.ok(message.startsWith(`${whom(0, a)}${whom(1, b)}And 1 more. The accepted`), message)
  assert.ok(message.includes(` viewmesh.io/accept-signers=${a},${b}. Else`), message)
  const two = reported([reporting()], { changed: changed.slice(0, 2) }).message
  assert.ok(two.startsWith(`${whom(0, a)}${whom(1, b)}The accepted`), two)
})

test('what the table has no remedy for is remedied as the Host says, or by its log', () => {
  const message = 'They do not agree.'
  const reportedBy = (error: FailureReport): string => reported([reporting(error)]).message
  const what = 'Replica 0: They do not agree (HOST_SIGNERS_DISAGREE).'
  assert.equal(
    reportedBy({ code: 'HOST_SIGNERS_DISAGREE', message }),
    `${what} See the log of the pod.`,
  )
  assert.equal(reported([reporting(failure('P2P_OTHER_NETWORK', 'Other.'))]).reason, 'Agreed')
  const unknown = ['validators/first']
  const withFile = reported([reporting(failure('HOST_SIGNERS_FILE_UNUSABLE', 'No.'))], { unknown })
  assert.match(withFile.message, / Not known yet is the identity of Generator validators\/first\. /)
  const silent = reported([reporting(failure('HOST_SIGNER_SILENT', 'No.'))], { unknown })
  assert.doesNotMatch(silent.message, /Not known yet/)
})

test('two Generators with one identity count once, which is reported', () => {
  const twins = [...accepted, { generator: 'validators/second', identity }]
  assert.deepEqual(reported([reporting()], { accepted: twins }), {
    reason: 'KeyRunsTwice',
    message: `Generators with one identity (${identity}), which counts once: validators/first, validators/second. Stop one of them, and give it keys of its own.`,
  })
})

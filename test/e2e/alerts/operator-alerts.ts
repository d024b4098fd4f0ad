/** When alerts about what the operator counts fire, and when they do not. */
import { type AlertCase, gaugeCases } from './alert-case.ts'

const operator = 'namespace="viewmesh",pod="op-0"'
const standby = 'namespace="viewmesh",pod="op-1"'

/** The series with the resources of a kind that say this, as one pod of the operator counts them. */
function resources(kind: string, condition: string, reason: string, target = operator): string {
  return `viewmesh_operator_resources{${target},kind="${kind}",condition="${condition}",reason="${reason}"}`
}

const notReady = [
  ...['PodsFailing', 'FailedCreate', 'Unschedulable', 'WaitingForStorage', 'WaitingForUpstream'],
  ...['ExecutionNodeUnknown', 'SecretMissing', 'IdentityNotReady', 'NotValidated', 'NotServed'],
]
const chainsDiffer = [
  ...['ReplicasDiffer', 'ChainMismatch', 'ChainForked'],
  ...['SignersDisagree', 'SignerChanged', 'KeyRunsTwice'],
]
const signerMissing = ['NoSigner', 'SignerSilent', 'SignersFileUnusable']

/** An alert for each of these reasons of SignersAgree, and no other one for what the others stand for. */
function signersCases(
  reasons: readonly string[],
  { others, minutes, text }: { others: readonly string[]; minutes: number; text: string },
): AlertCase[] {
  const all = [...reasons, ...others, 'NothingStored', 'TrustsAnyone']
  const series = Object.fromEntries(
    all.map((reason) => [resources('Host', 'SignersAgree', reason), '2x30']),
  )
  const fires = reasons.map((reason) => ({
    labels: { namespace: 'viewmesh', reason },
    summary: `2 Hosts ${text}: ${reason}.`,
  }))
  return [
    { when: 'for those reasons alone', series, at: minutes + 1, fires },
    { when: 'not before it has lasted', series, at: minutes - 1, fires: [] },
  ]
}

const lease = 'leader_election_master_status'
const ourLease = 'name="op-viewmesh-operator"'

/** By alert; the Lease is that of the release `op` in the namespace `viewmesh`. */
export const operatorAlerts: Readonly<Record<string, readonly AlertCase[]>> = {
  ViewmeshStalled: [
    {
      when: 'once for what both pods of the operator count',
      series: {
        [resources('Host', 'Stalled', 'KeysClaimMissing')]: '2x10',
        [resources('Host', 'Stalled', 'KeysClaimMissing', standby)]: '2x10',
        [resources('Host', 'Ready', 'Stalled')]: '2x10',
      },
      at: 6,
      fires: [
        {
          labels: { namespace: 'viewmesh', kind: 'Host', reason: 'KeysClaimMissing' },
          summary: '2 Host resources wait for a person: KeysClaimMissing.',
        },
      ],
    },
    {
      when: 'not for what a person mended within five minutes',
      series: { [resources('Host', 'Stalled', 'Forbidden')]: '1x4 stale' },
      at: 8,
      fires: [],
    },
  ],
  ViewmeshNotReady: [
    {
      when: 'for each reason that lasts, and for none that passes by itself',
      series: Object.fromEntries(
        [...notReady, 'Pending', 'Initializing', 'RollingOut', 'Paused', 'AllReady'].map(
          (reason) => [resources('Generator', 'Ready', reason), '1x30'],
        ),
      ),
      at: 16,
      fires: notReady.map((reason) => ({
        labels: { namespace: 'viewmesh', kind: 'Generator', reason },
        summary: `1 Generator resources are not ready: ${reason}.`,
      })),
    },
    {
      when: 'for a pod that runs for some minutes between crashes',
      series: {
        [resources('Host', 'Ready', 'PodsFailing')]: '1 stale _x3 1 stale _x3 1 stale _x3 1 stale',
      },
      at: 16,
      fires: [
        {
          labels: { namespace: 'viewmesh', kind: 'Host', reason: 'PodsFailing' },
          summary: '1 Host resources are not ready: PodsFailing.',
        },
      ],
    },
    {
      when: 'not for a pod that crashed for three minutes',
      series: { [resources('Host', 'Ready', 'PodsFailing')]: '1x3 stale' },
      at: 16,
      fires: [],
    },
    {
      when: 'no longer eleven minutes after it ended',
      series: { [resources('Host', 'Ready', 'PodsFailing')]: '1x20 stale' },
      at: 31,
      fires: [],
    },
  ],
  ViewmeshOperatorFailing: gaugeCases(
    `viewmesh_operator_failing_keys{${operator},controller="host"}`,
    {
      bad: '3',
      good: '0',
      minutes: 15,
      fires: [
        {
          labels: { namespace: 'viewmesh', controller: 'host' },
          summary: 'The operator fails repeatedly on 3 host resources.',
        },
      ],
    },
  ),
  ViewmeshNamespaceUnread: [
    ...gaugeCases(`viewmesh_operator_unread_kinds{${operator},watched="apps"}`, {
      bad: '4',
      good: '0',
      minutes: 5,
      fires: [
        {
          labels: { namespace: 'viewmesh', watched: 'apps' },
          summary:
            'The operator cannot read 4 kinds in namespace apps, so nothing that depends on them is done there.',
        },
      ],
    }),
    {
      when: 'for an operator that watches the whole cluster as well',
      series: { [`viewmesh_operator_unread_kinds{${operator},watched=""}`]: '1x20' },
      at: 16,
      fires: [
        {
          labels: { namespace: 'viewmesh' },
          summary:
            'The operator cannot read 1 kinds in the whole cluster, so nothing that depends on them is done there.',
        },
      ],
    },
  ],
  ViewmeshOperatorsOverlap: [
    {
      when: 'for what the two say of the same resources',
      series: { [resources('Host', 'Contested', 'OperatorsOverlap')]: '2x10' },
      at: 6,
      fires: [
        {
          labels: { namespace: 'viewmesh', kind: 'Host' },
          summary: 'Two operators manage 2 Host resources.',
        },
      ],
    },
    {
      when: 'not while one takes over from the other',
      series: { [resources('Host', 'Contested', 'OperatorsOverlap')]: '2x3 stale' },
      at: 6,
      fires: [],
    },
  ],
  ViewmeshOperatorLeaderless: [
    {
      when: 'where nobody leads',
      series: {
        [`${lease}{${operator},${ourLease}}`]: '0x10',
        [`${lease}{${standby},${ourLease}}`]: '0x10',
      },
      at: 6,
      fires: [
        {
          labels: { namespace: 'viewmesh' },
          summary: 'No operator holds the Lease in viewmesh, so nothing is reconciled.',
        },
      ],
    },
    {
      when: 'where none runs, also beside another release that leads',
      series: { [`${lease}{namespace="other",pod="op-0",name="op-viewmesh-operator"}`]: '1x10' },
      at: 6,
      fires: [
        {
          labels: { namespace: 'viewmesh', name: 'op-viewmesh-operator' },
          summary: 'No operator holds the Lease in viewmesh, so nothing is reconciled.',
        },
      ],
    },
    {
      when: 'not where one of two leads',
      series: {
        [`${lease}{${operator},${ourLease}}`]: '0x10',
        [`${lease}{${standby},${ourLease}}`]: '1x10',
      },
      at: 6,
      fires: [],
    },
    {
      when: 'not while the Lease changes hands',
      series: {
        [`${lease}{${operator},${ourLease}}`]: '1x3 0x10',
        [`${lease}{${standby},${ourLease}}`]: '0x5 1x8',
      },
      at: 8,
      fires: [],
    },
  ],
  ViewmeshChainsDiffer: signersCases(chainsDiffer, {
    others: signerMissing,
    minutes: 5,
    text: 'are on several chains, or their signers are',
  }),
  ViewmeshSignerMissing: signersCases(signerMissing, {
    others: chainsDiffer,
    minutes: 15,
    text: 'lack a signer',
  }),
}

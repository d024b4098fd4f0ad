import type { NetworkPolicy } from '../../../../operator/resources/objects/network-policy.ts'
import {
  checkFlows,
  type Flow,
  machine,
  outside,
  pod,
} from '../../../operator/support/network-flows.ts'
import { renderChart } from '../support/helm.ts'

const prometheus = pod('monitoring', { 'app.kubernetes.io/name': 'prometheus' })
const nameServer = pod('kube-system', { 'k8s-app': 'kube-dns' })
const host = pod('apps', { 'app.kubernetes.io/name': 'host' })

/** The policy of the operator's own pods, as its chart has it. */
async function policyWith(networkPolicy: object = {}): Promise<NetworkPolicy> {
  const objects = await renderChart(
    'operator',
    { name: 'op', namespace: 'viewmesh' },
    { global: { imageRegistry: 'localhost' }, networkPolicy: { enabled: true, ...networkPolicy } },
  )
  return objects.find(({ kind }) => kind === 'NetworkPolicy') as unknown as NetworkPolicy
}

const to = (name: string, other: Flow['other'], port: number, passes = true): Flow => ({
  ...{ name, other, port, passes },
  direction: 'out',
})
const from = (name: string, other: Flow['other'], port: number, passes = true): Flow => ({
  ...to(name, other, port, passes),
  direction: 'in',
})

checkFlows('the operator', await policyWith(), [
  to('the API server behind its Service', outside, 443),
  to('the API server itself', machine, 6443),
  { ...to('a look-up of a name', nameServer, 53), protocol: 'UDP' },
  to('a long look-up over TCP', nameServer, 53),
  to('health of a Host', host, 8080),
  to('health of a Generator in the network of its machine', machine, 8080),
  to('health of a Host at its load balancer', outside, 8080),
  to('the same, led to the pod before the policy is asked', host, 9183),
  to('what a Host says of its Views', host, 9181),
  to('the playground of a Host', host, 9182, false),
  to('a peer', host, 9171, false),
  to('an execution node', pod('nodes', { app: 'geth' }), 8545, false),
  to('anything else outside', outside, 80, false),
  { ...to('UDP to a port of health', host, 8080, false), protocol: 'UDP' },
  from('a probe', machine, 8080),
  from('Prometheus', prometheus, 8081),
  from('health from a pod', prometheus, 8080),
  from('another port from a pod', prometheus, 9229, false),
  from('metrics from outside, or from the network of another machine', outside, 8081, false),
])

const egress = [{ ports: [{ protocol: 'TCP', port: 4317 }] }]
checkFlows('with ports of its own', await policyWith({ apiServerPorts: [8443], egress }), [
  to('that of the API server', outside, 8443),
  to('that of another API server', outside, 6443, false),
  to('what was added', outside, 4317),
])

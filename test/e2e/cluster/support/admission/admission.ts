/** Admission in one namespace of a real cluster: webhooks, policies, and one that fails. */
import { json } from 'node:stream/consumers'
import { type Cluster, expectStatus } from '../cluster.ts'
import { testLabels } from '../leftovers.ts'
import { openReachableServer } from '../reachable-server.ts'

const group = '/apis/admissionregistration.k8s.io'

/** Takes it away from the cluster. */
export type RemoveAdmission = () => Promise<void>

/** A change that admission makes to objects of a kind each time that they are written. */
interface AdmissionChange {
  readonly apiGroup: string
  readonly plural: string
  /** Where in the object (RFC 6901), and the value there. */
  readonly path: string
  readonly value: string
  /** The same as an expression of a policy. */
  readonly expression: string
}

/** Every StatefulSet pulls its images always, and every Service loses a label by which the operator watches it. */
const admissionChanges: readonly AdmissionChange[] = [
  {
    apiGroup: 'apps',
    plural: 'statefulsets',
    path: '/spec/template/spec/containers/0/imagePullPolicy',
    value: 'Always',
    expression:
      'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: object.spec.template.spec.containers.map(c, Object.spec.template.spec.containers{name: c.name, imagePullPolicy: "Always"})}}}}',
  },
  {
    apiGroup: '',
    plural: 'services',
    path: '/metadata/labels/app.kubernetes.io~1part-of',
    value: 'theirs',
    expression:
      'Object{metadata: Object.metadata{labels: {"app.kubernetes.io/part-of": "theirs"}}}',
  },
]

/** Whether the cluster knows MutatingAdmissionPolicies; the version of their API, or null. */
export async function mutatingPolicyVersion(cluster: Cluster): Promise<string | null> {
  for (const version of ['v1', 'v1beta1']) {
    const path = `${group}/${version}/mutatingadmissionpolicies`
    if ((await cluster.request('GET', path)).status === 200) return version
  }
  return null
}

/** A webhook of this process. */
export async function openMutatingWebhook(
  cluster: Cluster,
  namespace: string,
): Promise<RemoveAdmission> {
  const server = await openReachableServer(cluster, async (request, response) => {
    const { request: review } = (await json(request)) as {
      readonly request: { readonly uid: string; readonly resource: { readonly resource: string } }
    }
    const patch = admissionChanges
      .filter(({ plural }) => plural === review.resource.resource)
      .map(({ path, value }) => ({ op: 'add', path, value }))
    const answer = {
      uid: review.uid,
      allowed: true,
      patchType: 'JSONPatch',
      patch: btoa(JSON.stringify(patch)),
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: answer,
      }),
    )
  })
  const url = `https://${server.address}:${server.port}/`
  const remove = await addWebhook(cluster, namespace, { url, caBundle: btoa(server.pem) })
  return async () => {
    await remove()
    server.close()
  }
}

/** A webhook that nobody answers for, so that the API server answers writes with 500. */
export async function addDeadWebhook(
  cluster: Cluster,
  namespace: string,
): Promise<RemoveAdmission> {
  return await addWebhook(cluster, namespace, { url: 'https://127.0.0.1:9/' })
}

async function addWebhook(
  cluster: Cluster,
  namespace: string,
  clientConfig: object,
): Promise<RemoveAdmission> {
  const path = `${group}/v1/mutatingwebhookconfigurations/${namespace}`
  await cluster.apply(path, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: namespace, labels: testLabels() },
    webhooks: [
      {
        name: 'test.viewmesh.io',
        clientConfig,
        rules: rules('v1'),
        ...selecting(namespace),
        failurePolicy: 'Fail',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 5,
      },
    ],
  })
  return async () => {
    await expectStatus(cluster.request('DELETE', path), 200)
  }
}

/** Policies that do the same as the webhook. */
export async function addMutatingPolicies(
  cluster: Cluster,
  namespace: string,
  version: string,
): Promise<RemoveAdmission> {
  const apiVersion = `admissionregistration.k8s.io/${version}`
  const paths: string[] = []
  const add = async (plural: string, name: string, object: object): Promise<void> => {
    const path = `${group}/${version}/${plural}/${name}`
    await cluster.apply(path, { apiVersion, metadata: { name, labels: testLabels() }, ...object })
    paths.push(path)
  }
  for (const { apiGroup, plural, expression } of admissionChanges) {
    const name = `${namespace}-${plural}`
    const resourceRules = rules('v1').filter(({ apiGroups }) => apiGroups.includes(apiGroup))
    await add('mutatingadmissionpolicies', name, {
      kind: 'MutatingAdmissionPolicy',
      spec: {
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
        matchConstraints: { resourceRules },
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
      },
    })
    await add('mutatingadmissionpolicybindings', name, {
      kind: 'MutatingAdmissionPolicyBinding',
      spec: { policyName: name, matchResources: selecting(namespace) },
    })
  }
  return async () => {
    for (const path of paths.toReversed()) await expectStatus(cluster.request('DELETE', path), 200)
  }
}

interface Rule {
  readonly apiGroups: readonly string[]
  readonly apiVersions: readonly string[]
  readonly resources: readonly string[]
  readonly operations: readonly string[]
}

function rules(apiVersion: string): Rule[] {
  const operations = ['CREATE', 'UPDATE']
  return admissionChanges.map(({ apiGroup, plural }) => ({
    apiGroups: [apiGroup],
    apiVersions: [apiVersion],
    resources: [plural],
    operations,
  }))
}

function selecting(namespace: string): object {
  return {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
  }
}

/**
 * The Jobs that register a View, with the image of the toolkit: one says the terms in its termination message, the other
 * signs exactly these. They alone mount the signer's key; user 1001, nothing writable, no token of the cluster.
 */
import type {
  V1Container,
  V1Job,
  V1JobSpec,
  V1PodFailurePolicy,
  V1Volume,
} from '@kubernetes/client-node'
import type { ViewRegistration } from '../../api/view-spec.ts'
import type { ViewResource } from '../../api.ts'
import { canonicalJson, shortHash } from '../names/canonical-json.ts'
import { childMetadata, selectorLabels } from '../names/metadata.ts'
import { viewConfigName } from '../names/names.ts'
import { containerSecurity, podSecurity } from '../pod/pod-security.ts'

/** What a Job is for; `register` with its terms as the toolkit reads them, in JSON. */
export type RegistrationStep =
  | { readonly step: 'prepare' }
  | { readonly step: 'register'; readonly terms: string }

interface JobParts {
  readonly registration: ViewRegistration
  /** Key of the View's ConfigMap. */
  readonly file: string
  /** Another one is another Job. */
  readonly attempt: number
  readonly image: string
  readonly pullSecrets: readonly string[]
}

/** Kubernetes removes a Job so long after its end; one that failed is then made again. */
const keptSeconds = 600

/** The chain itself waits five minutes for the other one, and a block may take two. */
const deadlineSeconds = { prepare: 300, register: 900 }

const retries = 2

/** The container that does it: others may be put beside it. */
export const toolkitName = 'toolkit'

/** What is refused is refused again; what is not reached, and a machine that goes, are no reason to give up. */
const podFailurePolicy: V1PodFailurePolicy = {
  rules: [
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    {
      action: 'FailJob',
      onExitCodes: { containerName: toolkitName, operator: 'In', values: [1, 2] },
    },
  ],
}

const secretMode = 0o440
const termsAnnotation = 'viewmesh.io/terms'
const message = '/dev/termination-log'

/** Its name follows from all that is in it: what is to be done otherwise is done by another Job. */
export function registrationJob(
  view: ViewResource,
  step: RegistrationStep,
  parts: JobParts,
): V1Job {
  const spec = jobSpec(view, step, parts)
  const hash = shortHash(canonicalJson([view.metadata.uid, parts.attempt, spec])).slice(0, 8)
  // Names of Jobs have 63 characters at most, and no part of them begins or ends with "-".
  const begin = view.metadata.name.slice(0, 40).replace(/[-.]+$/, '')
  const name = `${begin}-${step.step}-${hash}`
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: childMetadata(view, name), spec }
}

function jobSpec(view: ViewResource, step: RegistrationStep, parts: JobParts): V1JobSpec {
  const { pullSecrets } = parts
  const annotations = step.step === 'register' ? { [termsAnnotation]: step.terms } : {}
  return {
    backoffLimit: retries,
    podFailurePolicy,
    activeDeadlineSeconds: deadlineSeconds[step.step],
    ttlSecondsAfterFinished: keptSeconds,
    template: {
      metadata: { labels: selectorLabels(view), annotations },
      spec: {
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: podSecurity,
        ...(pullSecrets.length === 0
          ? {}
          : { imagePullSecrets: pullSecrets.map((name) => ({ name })) }),
        containers: [toolkitContainer(view, step, parts)],
        volumes: volumesOf(view, step, parts),
      },
    },
  }
}

function toolkitContainer(
  { metadata: { name } }: ViewResource,
  { step }: RegistrationStep,
  { registration: { target, rpcUrl, chainId, maxFee }, image }: JobParts,
): V1Container {
  const mounts = ['view', 'signer', ...(step === 'register' ? ['terms'] : [])]
  return {
    name: toolkitName,
    image,
    imagePullPolicy: 'IfNotPresent',
    args: [
      ...['view', 'deploy', name, '--target', target.toLowerCase(), '--rpc', rpcUrl],
      ...(chainId === undefined ? [] : ['--chain-id', String(chainId)]),
      ...['--max-fee', maxFee, '--view-file', '/view/file', '--key-file', '/signer/key'],
      ...(step === 'prepare'
        ? ['--prepare', message]
        : ['--send', '/terms/terms', '--report', message]),
    ],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    volumeMounts: mounts.map((mount) => ({ name: mount, mountPath: `/${mount}`, readOnly: true })),
    // The toolkit writes each of its failures there; its logs are nobody else's.
    terminationMessagePath: message,
    terminationMessagePolicy: 'File',
    securityContext: containerSecurity,
  }
}

function volumesOf(
  view: ViewResource,
  { step }: RegistrationStep,
  { registration: { signerSecretRef }, file }: JobParts,
): V1Volume[] {
  const { name: secretName, key } = signerSecretRef
  const terms: V1Volume = {
    name: 'terms',
    downwardAPI: {
      items: [
        { path: 'terms', fieldRef: { fieldPath: `metadata.annotations['${termsAnnotation}']` } },
      ],
    },
  }
  return [
    {
      name: 'view',
      configMap: { name: viewConfigName(view), items: [{ key: file, path: 'file' }] },
    },
    {
      name: 'signer',
      // The program says of a missing one what no state of the pod would.
      secret: {
        secretName,
        optional: true,
        defaultMode: secretMode,
        items: [{ key, path: 'key' }],
      },
    },
    ...(step === 'register' ? [terms] : []),
  ]
}

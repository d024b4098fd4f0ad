/** Views as the API server would hold them. */
import { createHash } from 'node:crypto'
import type { ViewDefinition, ViewRegistration } from '../../../operator/api/view-spec.ts'
import type { ViewResource } from '../../../operator/api.ts'
import type { KubernetesObject } from '../../../operator/runtime/client/kubernetes-object.ts'

/** Stands for the module of a lens; whether it is WebAssembly a Host finds out. */
export const moduleBytes: Uint8Array = Buffer.from('module')
const moduleHash = createHash('sha256').update(moduleBytes).digest('hex')

/** A definition without lenses. */
export const plainDefinition = {
  query: 'Log { address }',
  sdl: 'type Sender { address: String }',
} as const

/** The same with a lens, whose module `lensMap` has. */
export const lensDefinition: ViewDefinition = {
  ...plainDefinition,
  lenses: [
    {
      label: 'pass',
      wasm: { configMapRef: { name: 'lenses', key: 'pass.wasm' }, sha256: moduleHash },
      arguments: { b: '2', a: '1' },
    },
  ],
}

/** A registration whose node nobody asks. */
export const registration: ViewRegistration = {
  target: 'Devnet',
  rpcUrl: 'http://registry:8645',
  maxFee: '0.1',
  signerSecretRef: { name: 'deployer', key: 'private-key' },
}

/** A View in the namespace of the Hosts of `operator-cases.ts`. */
export function viewWith(
  name: string,
  spec: Partial<ViewResource['spec']>,
  namespace: string,
): ViewResource {
  return {
    apiVersion: 'viewmesh.io/v1alpha1',
    kind: 'View',
    metadata: { name, namespace, uid: `uid-of-${name}`, generation: 1 },
    spec: { hostSelector: {}, paused: false, ...spec },
  }
}

/** The ConfigMap with the module of `lensDefinition`, or with other bytes. */
export function lensMap(namespace: string, bytes: Uint8Array = moduleBytes): KubernetesObject {
  const binaryData = { 'pass.wasm': Buffer.from(bytes).toString('base64') }
  const map = { kind: 'ConfigMap', metadata: { name: 'lenses', namespace }, binaryData }
  return map as KubernetesObject
}

/** Wrong manifests with what the API server says to them, and the smallest ones that it takes. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Resource } from '../../../../operator/api.ts'
import { repository } from '../../../support/repository.ts'
import type { JsonObject } from '../../../support/resources/merge-patch.ts'
import { plainDefinition } from '../../../support/resources/view-cases.ts'

export interface RefusedManifest {
  readonly name: string
  readonly kind: Resource['kind']
  /** What is changed in the smallest one. */
  readonly change: JsonObject
  readonly causes: readonly string[]
}

export const refusedManifests: readonly RefusedManifest[] = parse(
  readFileSync(`${repository}/test/fixtures/operator/refused-manifests.yaml`, 'utf8'),
)

/** The smallest manifests there are. */
export const smallest: Readonly<Record<RefusedManifest['kind'], JsonObject>> = {
  Generator: {
    apiVersion: 'viewmesh.io/v1alpha1',
    kind: 'Generator',
    metadata: { name: 'mainnet' },
    spec: { upstream: { service: { name: 'geth' } } },
  },
  Host: {
    apiVersion: 'viewmesh.io/v1alpha1',
    kind: 'Host',
    metadata: { name: 'mainnet' },
    spec: {},
  },
  View: {
    apiVersion: 'viewmesh.io/v1alpha1',
    kind: 'View',
    metadata: { name: 'senders' },
    spec: { definition: { ...plainDefinition } },
  },
}

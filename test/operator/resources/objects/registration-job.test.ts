import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Job } from '@kubernetes/client-node'
import type { ViewRegistration } from '../../../../operator/api/view-spec.ts'
import { registrationJob } from '../../../../operator/resources/objects/registration-job.ts'
import { plainDefinition, registration, viewWith } from '../../../support/resources/view-cases.ts'

/** The Job that prepares the registration of a View of this name. */
function jobOf(name: string, more: Partial<ViewRegistration> = {}): V1Job {
  const view = viewWith(name, { definition: plainDefinition, registration }, 'apps')
  const parts = { file: 'a.view', attempt: 0, image: 'toolkit:1', pullSecrets: [] }
  const given = { ...parts, registration: { ...registration, ...more } }
  return registrationJob(view, { step: 'prepare' }, given)
}

test('a Job is named after the first 40 characters of its View, which end in none of - and .', () => {
  const begins = (name: string): string =>
    jobOf(name).metadata?.name?.replace(/-prepare-[0-9a-f]{8}$/, '') ?? ''
  const long = 'a'.repeat(38)
  assert.equal(begins(`${long}bcd`), `${long}bc`)
  assert.equal(begins(`${long}-.c`), long)
  assert.equal(begins('short'), 'short')
})

test('a Job asks for the chain where that has an ID, and for no Secrets where none are needed', () => {
  const argsOf = ({ spec }: V1Job): readonly string[] =>
    spec?.template.spec?.containers[0]?.args ?? []
  assert.ok(!argsOf(jobOf('view')).includes('--chain-id'))
  const args = argsOf(jobOf('view', { chainId: 7 }))
  assert.deepEqual(args.slice(args.indexOf('--chain-id')).slice(0, 2), ['--chain-id', '7'])
  assert.equal('imagePullSecrets' in (jobOf('view').spec?.template.spec ?? {}), false)
})

test('a Job has no rights in the cluster, only reads what it gets, and starts without its key', () => {
  const { containers, volumes, ...pod } = jobOf('view').spec?.template.spec ?? {}
  assert.partialDeepStrictEqual(pod, {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
  })
  assert.deepEqual(containers?.[0]?.volumeMounts, [
    { name: 'view', mountPath: '/view', readOnly: true },
    { name: 'signer', mountPath: '/signer', readOnly: true },
  ])
  assert.equal(volumes?.find(({ name }) => name === 'signer')?.secret?.optional, true)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourceKinds } from '../../operator/api/resource-kinds.ts'
import { builtinTypes } from '../../operator/runtime/client/resource-type.ts'
import { chartRules } from '../e2e/cluster/support/cluster-operator.ts'
import { readSourceFiles } from '../support/source-files.ts'

/** What Roles call the verbs of `die-at.ts`; what is applied is created where it is not there. */
const roleVerbs: Readonly<Record<string, readonly string[]>> = {
  create: ['create'],
  replace: ['update'],
  patch: ['patch'],
  apply: ['create', 'patch'],
  delete: ['delete'],
}
const kinds = [...Object.values(builtinTypes), ...resourceKinds]
const plurals = new Map(kinds.map(({ kind, plural }) => [kind, plural]))
const moment = /'(?:before|after) (\w+) (\w+)(\/\w+)?(?: \d+)?'/g

/** Writes that the API server lets the operator do; finalizers are a right without a write. */
function allowedWrites(): string[] {
  const writing = new Set(Object.values(roleVerbs).flat())
  return chartRules().flatMap(({ resources, verbs }) =>
    resources
      .filter((resource) => !resource.endsWith('/finalizers'))
      .flatMap((resource) =>
        verbs.filter((verb) => writing.has(verb)).map((verb) => `${verb} ${resource}`),
      ),
  )
}

/** Writes at which tests on a cluster kill it, from the texts of these tests. */
function killedWrites(): Set<string> {
  const moments = readSourceFiles('test/e2e/cluster').flatMap(({ text }) => [
    ...text.matchAll(moment),
  ])
  return new Set(
    moments.flatMap(([, verb = '', kind = '', subresource = '']) =>
      (roleVerbs[verb] ?? []).map((name) => `${name} ${plurals.get(kind)}${subresource}`),
    ),
  )
}

test('every write that the chart lets the operator do is one at which a test kills it', () => {
  const killed = killedWrites()
  const allowed = allowedWrites()
  assert.ok(allowed.includes('patch pods') && allowed.includes('update leases'))
  assert.deepEqual(
    allowed.filter((write) => !killed.has(write)),
    [],
  )
})

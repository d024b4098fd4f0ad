import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { conditions } from '../../operator/api/conditions.ts'
import { repository } from '../support/repository.ts'

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly summary: string
}

const alerts: readonly Alert[] = parse(read('charts/operator/files/alerts.yaml'))

/** Sources that declare metrics; rooms with a prefix of their own write only the rest of the name. */
const sources = ['src', 'operator']
  .flatMap((top) =>
    readdirSync(join(repository, top), { recursive: true, encoding: 'utf8' }).map((path) =>
      join(top, path),
    ),
  )
  .filter((path) => path.endsWith('.ts'))
  .map(read)
  .join('\n')

/** Names of ours and of the operator's runtime; other programs' are not checked. */
function metricsOf(text: string): string[] {
  const names =
    /\b(?:viewmesh|controller_runtime|workqueue|rest_client|leader_election)_[a-z0-9_]+/g
  return [...new Set(text.match(names) ?? [])].map((name) => name.replace(/_bucket$/, ''))
}

function isDeclared(name: string): boolean {
  const rest = name.replace(/^viewmesh_host_/, '').replace(/_total$/, '')
  return sources.includes(`'${name}'`) || (rest !== name && sources.includes(`'${rest}'`))
}

for (const [what, text] of [
  ['an alert', alerts.map(({ expr }) => expr).join('\n')],
  ['the dashboard', read('charts/operator/files/dashboard.json')],
] as const) {
  test(`every metric that ${what} asks for exists`, () => {
    const names = metricsOf(text)
    assert.ok(names.length > 4)
    assert.deepEqual(
      names.filter((name) => !isDeclared(name)),
      [],
    )
  })
}

/** What an alert asks of the labels of a metric, as `condition="Stalled"`. */
function asked(label: string): string[] {
  const texts = alerts.map(({ expr }) => expr).join('\n')
  return [...texts.matchAll(new RegExp(`\\b${label}="([^"]+)"`, 'g'))].map(
    ([, value]) => `${value}`,
  )
}

test('conditions that an alert asks for are in the table', () => {
  assert.notEqual(asked('condition').length, 0)
  const known: Readonly<Record<string, unknown>> = conditions
  for (const condition of asked('condition')) assert.ok(Object.hasOwn(known, condition))
})

test('that a resource is not ready is an alert for every reason but those of other alerts, of people, and of what passes', () => {
  const { expr = '' } = alerts.find(({ alert }) => alert === 'ViewmeshNotReady') ?? {}
  const told = /reason=~"([^"]+)"/.exec(expr)?.[1]?.split('|') ?? []
  const others = ['Pending', 'Initializing', 'RollingOut', 'Paused', 'Stalled']
  const isBad = ([, { status }]: [string, { readonly status: string }]): boolean =>
    status === 'False'
  const bad = Object.entries(conditions.Ready.reasons).filter(isBad)
  assert.deepEqual([...told, ...others].toSorted(), bad.map(([reason]) => reason).toSorted())
})

test('no alert counts failures over a while: pauses between them grow to a quarter of an hour', () => {
  const counting = alerts.filter(({ expr }) => /reconcile_errors|workqueue_retries/.test(expr))
  assert.deepEqual(counting, [])
})

test('README explains every alert under its name, and no other', () => {
  const headings = [...read('README.md').matchAll(/^#### (Viewmesh\w+)$/gm)].map(([, name]) => name)
  assert.deepEqual(
    headings,
    alerts.map(({ alert }) => alert),
  )
})

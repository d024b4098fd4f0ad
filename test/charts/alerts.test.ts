import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { conditions } from '../../operator/api/conditions.ts'
import { declaredSeries } from '../generate/declared-metrics.ts'
import { repository } from '../support/repository.ts'

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly summary: string
}

const alerts: readonly Alert[] = parse(read('charts/operator/files/alerts.yaml'))

const declared = declaredSeries()

/** Labels that Prometheus gives a series by where it was read. */
const ofTheTarget: readonly string[] = ['namespace', 'pod']

/** A name of ours or of the operator's runtime, with what is asked of its labels. */
const asking =
  /\b((?:viewmesh|controller_runtime|workqueue|rest_client|leader_election)_[a-z0-9_]+)(?:\{([^}]*)\})?/g

/** An expression, and the text that shows what comes of it. */
interface Question {
  readonly expr: string
  readonly shown: string
}

/** Labels that are asked for and that no series of the expression has. */
function strangeLabels({ expr, shown }: Question): string[] {
  const found = [...expr.matchAll(asking)]
  const all = found.flatMap(([, name = '']) => declared.get(name) ?? [])
  const selected = found.flatMap(([, name = '', selectors = '']) =>
    [...selectors.matchAll(/(\w+)\s*[=!]/g)]
      .map(([, label = '']) => label)
      .filter((label) => !(declared.get(name) ?? []).includes(label)),
  )
  const groups = [...expr.matchAll(/\bby \(([^)]*)\)/g)].map(([, text = '']) => text.split(', '))
  const grouped = groups.flat().filter((label) => !all.includes(label))
  const left = groups[0] ?? [...all, ...ofTheTarget]
  const named = [...shown.matchAll(/\$labels\.(\w+)|\{\{\s*(?!else|end)(\w+)\s*\}\}/g)].flatMap(
    ([, label = '', legend = label]) => (left.includes(legend) ? [] : [`${legend}, shown`]),
  )
  return [...[...selected, ...grouped].filter((label) => !ofTheTarget.includes(label)), ...named]
}

interface Dashboard {
  readonly panels: readonly {
    readonly id: number
    readonly title: string
    readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
  }[]
}

const dashboard: Dashboard = JSON.parse(read('charts/operator/files/dashboard.json'))

for (const [what, questions] of [
  ['an alert', alerts.map(({ expr, summary }): Question => ({ expr, shown: summary }))],
  [
    'the dashboard',
    dashboard.panels.flatMap(({ targets = [] }) =>
      targets.map(({ expr, legendFormat }): Question => ({ expr, shown: legendFormat })),
    ),
  ],
] as const) {
  test(`every metric in ${what} is declared under that name and with those labels`, () => {
    const names = questions.flatMap(({ expr }) =>
      [...expr.matchAll(asking)].map(([, name]) => name),
    )
    assert.ok(names.length > 4)
    for (const question of questions) {
      const strange = [...question.expr.matchAll(asking)].filter(
        ([, name = '']) => !declared.has(name),
      )
      assert.deepEqual(
        [strange.map(([, name]) => name), strangeLabels(question)],
        [[], []],
        question.expr,
      )
    }
  })
}

test('the dashboard shows Views at Hosts, in lens processes and as resources', () => {
  const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  for (const wanted of [/viewmesh_host_views\{/, /viewmesh_lens_/, /resources\{kind="View"/]) {
    assert.ok(
      shown.some((expr) => wanted.test(expr)),
      `${wanted}`,
    )
  }
})

test('no panel of the dashboard lies on another, and each has an ID of its own', () => {
  const { panels } = dashboard
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  for (const [at, { gridPos: a, title }] of panels.entries()) {
    for (const { gridPos: b } of panels.slice(at + 1)) {
      const isBeside = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y
      assert.ok(isBeside, title)
    }
  }
})

test('the check finds a metric name with a wrong ending and a label of another metric', () => {
  assert.equal(declared.has('viewmesh_host_head'), false)
  assert.equal(declared.has('viewmesh_host_head_height'), true)
  const of = (expr: string, shown: string): string[] => strangeLabels({ expr, shown })
  assert.deepEqual(of('viewmesh_p2p_peers{condition="Ready"}', ''), ['condition'])
  assert.deepEqual(of('sum by (namespace, kind) (viewmesh_p2p_peers)', ''), ['kind'])
  assert.deepEqual(of('sum by (namespace) (viewmesh_p2p_peers)', '{{ $labels.pod }}'), [
    'pod, shown',
  ])
  assert.deepEqual(of('viewmesh_p2p_peers', '{{ if $labels.pod }}{{ else }}{{kind}}{{ end }}'), [
    'kind, shown',
  ])
})

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

test('ViewmeshNotReady covers every reason that no other alert or person handles and that lasts', () => {
  const { expr = '' } = alerts.find(({ alert }) => alert === 'ViewmeshNotReady') ?? {}
  const named = /reason=~"([^"]+)"/.exec(expr)?.[1]?.split('|') ?? []
  const others = ['Pending', 'Initializing', 'RollingOut', 'Paused', 'Stalled']
  const isBad = ([, { status }]: [string, { readonly status: string }]): boolean =>
    status === 'False'
  const bad = Object.entries(conditions.Ready.reasons).filter(isBad)
  assert.deepEqual([...named, ...others].toSorted(), bad.map(([reason]) => reason).toSorted())
})

test('no alert counts failures over a while: pauses between them grow to a quarter of an hour', () => {
  const counting = alerts.filter(({ expr }) => /reconcile_errors|workqueue_retries/.test(expr))
  assert.deepEqual(counting, [])
})

test('the page of alerts has a section for every alert, and for no other', () => {
  const page = read('docs/kubernetes/alerts.md')
  const headings = [...page.matchAll(/^#+ (Viewmesh\w+)$/gm)].map(([, name]) => name)
  assert.deepEqual(
    headings,
    alerts.map(({ alert }) => alert),
  )
})

test('every reason of SignersAgree that lasts raises an alert', () => {
  const named = alerts
    .filter(({ expr }) => expr.includes('condition="SignersAgree"'))
    .flatMap(({ expr }) => /reason=~"([^"]+)"/.exec(expr)?.[1]?.split('|') ?? [])
  const bad = Object.entries<{ readonly status: string }>(conditions.SignersAgree.reasons)
    .filter(([, { status }]) => status === 'False')
    .map(([reason]) => reason)
  const others = ['NothingStored', 'TrustsAnyone']
  assert.deepEqual([...named, ...others].toSorted(), bad.toSorted())
  assert.ok(alerts.some(({ expr }) => expr.includes('viewmesh_host_stands_still_seconds')))
})

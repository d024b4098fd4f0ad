/** Prometheus evaluates the alerts of the operator's chart: needs promtool, which Debian has in its package `prometheus`. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse, stringify } from 'yaml'
import { declaredSeries } from '../../generate/declared-metrics.ts'
import { repository } from '../../support/repository.ts'
import type { AlertCase } from './alert-case.ts'
import { operatorAlerts } from './operator-alerts.ts'
import { programAlerts } from './program-alerts.ts'

const alertCases: Readonly<Record<string, readonly AlertCase[]>> = {
  ...operatorAlerts,
  ...programAlerts,
}

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly severity: string
  readonly summary: string
}

const alerts: readonly Alert[] = parse(
  await readFile(join(repository, 'charts/operator/files/alerts.yaml'), 'utf8'),
)

/** The rules as the chart's template makes them of the file, for the release `op` in the namespace `viewmesh`. */
const rules = {
  groups: [
    {
      name: 'viewmesh',
      rules: alerts.map(({ severity, summary, expr, ...rule }) => ({
        ...rule,
        expr: expr.replaceAll('{LEASE}', '{namespace="viewmesh",name="op-viewmesh-operator"}'),
        labels: { severity },
        annotations: { summary },
      })),
    },
  ],
}

/** What promtool prints, and whether it found nothing wrong. */
function promtool(...args: readonly string[]): Promise<{ isFine: boolean; text: string }> {
  return new Promise((resolve, reject) => {
    execFile('promtool', args, { timeout: 60_000 }, (error, stdout, stderr) => {
      if (error?.code === 'ENOENT') {
        reject(
          new Error('promtool is missing: install it, for example with apt-get install prometheus'),
        )
      } else resolve({ isFine: error === null, text: `${stdout}${stderr}` })
    })
  })
}

describe('the alerts of the operator’s chart', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'viewmesh-alerts-'))
    await writeFile(join(folder, 'rules.yaml'), stringify(rules))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  /** What promtool makes of one case; its words where the alert does not do what the case says. */
  async function failureOf(alert: Alert, { series, at, fires }: AlertCase): Promise<string> {
    const test = {
      rule_files: ['rules.yaml'],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
          alert_rule_test: [
            {
              eval_time: `${at}m`,
              alertname: alert.alert,
              exp_alerts: fires.map(({ labels, summary }) => ({
                exp_labels: { ...labels, severity: alert.severity },
                exp_annotations: { summary },
              })),
            },
          ],
        },
      ],
    }
    const file = join(folder, 'test.yaml')
    await writeFile(file, stringify(test))
    const { isFine, text } = await promtool('test', 'rules', file)
    return isFine ? '' : text
  }

  test('are rules that Prometheus takes', async () => {
    const { isFine, text } = await promtool('check', 'rules', join(folder, 'rules.yaml'))
    assert.ok(isFine, text)
    assert.match(text, new RegExp(`SUCCESS: ${alerts.length} rules found`))
  })

  test('are all tried, firing and not, with series as the programs export them', () => {
    const names = alerts.map(({ alert }) => alert)
    assert.deepEqual(Object.keys(alertCases).toSorted(), names.toSorted())
    const declared = declaredSeries()
    for (const [alert, cases] of Object.entries(alertCases)) {
      assert.ok(
        cases.some(({ fires }) => fires.length > 0) &&
          cases.some(({ fires }) => fires.length === 0),
        alert,
      )
      for (const series of cases.flatMap((one) => Object.keys(one.series))) {
        const [, name = '', text = ''] = /^(\w+)\{(.*)\}$/.exec(series) ?? []
        const labels = [...text.matchAll(/(\w+)="/g)].map(([, label]) => label)
        const wanted = ['namespace', 'pod', ...(declared.get(name) ?? assert.fail(series))]
        assert.deepEqual(labels.toSorted(), wanted.toSorted(), series)
      }
    }
  })

  for (const alert of alerts) {
    for (const one of alertCases[alert.alert] ?? []) {
      test(`${alert.alert} fires ${one.when}`, async () => {
        assert.equal(await failureOf(alert, one), '')
      })
    }
  }

  test('would be found out by a case that expects something else', async () => {
    const [alert = assert.fail('there are none')] = alerts
    const [one = assert.fail('there are none')] = alertCases[alert.alert] ?? []
    assert.match(await failureOf(alert, { ...one, fires: [] }), /FAILED/)
  })
})

/** The tables of metrics, from what the programs declare. */
import { type DeclaredMetric, type MetricsProgram, metricsOf } from './declared-metrics.ts'
import { table } from './table.ts'

/** The sections of the page: what all programs have, what Generator and Host share, what one has. */
export function metricsTables(): Readonly<Record<string, string>> {
  const [generator, host, operator] = (['generator', 'host', 'operator'] as const).map(namesOf)
  const isIn = (names: ReadonlySet<string> | undefined) => (metric: DeclaredMetric) =>
    names?.has(metric.name) === true
  const all = (metric: DeclaredMetric): boolean =>
    isIn(generator)(metric) && isIn(host)(metric) && isIn(operator)(metric)
  const both = (metric: DeclaredMetric): boolean =>
    isIn(generator)(metric) && isIn(host)(metric) && !all(metric)
  const own = (program: MetricsProgram): string =>
    metricsTable(metricsOf(program).filter((metric) => !all(metric) && !both(metric)))
  return {
    'metrics of both': metricsTable(metricsOf('host').filter(both)),
    'metrics of the generator': own('generator'),
    'metrics of the host': own('host'),
    'metrics of the operator': own('operator'),
    'metrics of every process': metricsTable(metricsOf('host').filter(all)),
  }
}

function namesOf(program: MetricsProgram): ReadonlySet<string> {
  return new Set(metricsOf(program).map(({ name }) => name))
}

function metricsTable(metrics: readonly DeclaredMetric[]): string {
  const rows = metrics.map(({ name, type, labels, help }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(' '),
    unitOf(name),
    help.replaceAll('|', '\\|'),
  ])
  return table(['Metric', 'Type', 'Labels', 'Unit', 'Meaning'], rows)
}

/** As the name says it; a number of things has no unit. */
function unitOf(name: string): string {
  return /_(seconds|bytes)(?:_total)?$/.exec(name)?.[1] ?? ''
}

/** Reads one figure as Prometheus does: from the text, by its name there and some of its labels. */
import type { Registry } from 'prom-client'

/**
 * The value of a sample, summed over the labels that are left open; 0 where it was never touched. A
 * histogram has `<name>_count`, `<name>_sum` and `<name>_bucket`.
 */
export async function metricValue(
  registry: Registry,
  sample: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  return sampleValue(await registry.metrics(), sample, labels)
}

/** The same in a text that was asked for over HTTP. */
export function sampleValue(
  text: string,
  sample: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const wanted = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${sample} `) || line.startsWith(`${sample}{`))
    .filter((line) => wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

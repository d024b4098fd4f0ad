/**
 * Writes as the API server counts them, to everything that the operator may write. Who wrote is not
 * counted there, so nobody else must be at work meanwhile.
 */
import type { Cluster } from '../../e2e/cluster/support/cluster.ts'
import { chartRules } from '../../e2e/cluster/support/cluster-operator.ts'

/** Number of requests by verb and resource, as in `APPLY hosts/status`. */
export type WriteCounts = ReadonlyMap<string, number>

const verbs: readonly string[] = ['APPLY', 'DELETE', 'DELETECOLLECTION', 'PATCH', 'POST', 'PUT']
const writing: readonly string[] = ['create', 'delete', 'patch', 'update']
/** Renewed every two seconds, whatever else happens. */
const left = 'leases'

/** All there were since the API server started. */
export async function countWrites(cluster: Cluster): Promise<WriteCounts> {
  const { code, stdout, stderr } = await cluster.kubectl(['get', '--raw', '/metrics'])
  if (code !== 0) throw new Error(`the API server's metrics cannot be read: ${stderr}`)
  return parseWrites(stdout, writable())
}

/** Those that came between two counts. */
export function writesSince(before: WriteCounts, after: WriteCounts): WriteCounts {
  const grown = [...after].map(([name, count]): [string, number] => [
    name,
    count - (before.get(name) ?? 0),
  ])
  return new Map(grown.filter(([, count]) => count > 0))
}

function parseWrites(metrics: string, resources: ReadonlySet<string>): WriteCounts {
  const counts = new Map<string, number>()
  for (const [, text = '', value] of metrics.matchAll(
    /^apiserver_request_total\{(.*)\} (\S+)$/gm,
  )) {
    const labels = Object.fromEntries(
      [...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', label = '']) => [name, label]),
    )
    const { verb = '', resource = '', subresource, dry_run: dryRun } = labels
    const name = subresource ? `${resource}/${subresource}` : resource
    if (dryRun || !verbs.includes(verb) || !resources.has(name)) continue
    const counted = `${verb} ${name}`
    counts.set(counted, (counts.get(counted) ?? 0) + Number(value))
  }
  return counts
}

function writable(): ReadonlySet<string> {
  const rules = chartRules().filter((rule) => rule.verbs.some((verb) => writing.includes(verb)))
  return new Set(rules.flatMap(({ resources }) => resources).filter((name) => name !== left))
}

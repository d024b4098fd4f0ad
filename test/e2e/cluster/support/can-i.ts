/** What the API server says a service account may do; `kubectl auth can-i` asks it. */
import type { Cluster } from './cluster.ts'

/** A question such as `['list', 'secrets', '--all-namespaces']`. */
type Asking = (...question: readonly string[]) => Promise<boolean>

/** Asks for a service account. Throws what kubectl says where it answers neither yes nor no. */
export function canAccount(cluster: Cluster, namespace: string, account: string): Asking {
  const as = `--as=system:serviceaccount:${namespace}:${account}`
  return async (...question) => {
    const { stdout, stderr } = await cluster.kubectl(['auth', 'can-i', ...question, as])
    const answer = stdout.trim()
    if (answer !== 'yes' && answer !== 'no') throw new Error(`${answer}${stderr}`)
    return answer === 'yes'
  }
}

/** A kubeconfig for the stand-in for the API server. */

/** With the contexts `first`, the current one, of namespace shop, and `second`; `changed` are fields of the cluster. */
export function kubeconfigText(server: string, changed: object = {}): string {
  const context = { cluster: 'test', user: 'test' }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true, ...changed } }],
    users: [{ name: 'test', user: {} }],
    contexts: [
      { name: 'first', context: { ...context, namespace: 'shop' } },
      { name: 'second', context },
    ],
    'current-context': 'first',
  })
}

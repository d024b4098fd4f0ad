/** Which Hosts a View selects. */
import type { Host, ViewResource } from '../../api.ts'

/** Whether a View is for this Host: one of its namespace, with all labels of the selector. */
export function selectsHost({ metadata, spec }: ViewResource, host: Host): boolean {
  if (metadata.namespace !== host.metadata.namespace) return false
  const { labels = {} } = host.metadata
  return Object.entries(spec.hostSelector.matchLabels ?? {}).every(
    ([name, value]) => labels[name] === value,
  )
}

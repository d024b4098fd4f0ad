/** What is kept of a Job: how far it is. */
import type { V1Job } from '@kubernetes/client-node'

/** A Job without what is never read. */
export interface KeptJob {
  readonly uid: string
  readonly state: 'running' | 'complete' | 'failed'
  /** Why it failed, as Kubernetes says it, such as DeadlineExceeded; null otherwise. */
  readonly failure: string | null
}

export function keepJob({ metadata, status }: V1Job): KeptJob {
  const held = (wanted: string): { readonly reason?: string } | undefined =>
    status?.conditions?.find(({ type, status: holds }) => type === wanted && holds === 'True')
  const uid = metadata?.uid ?? ''
  const failed = held('Failed')
  if (failed !== undefined) return { uid, state: 'failed', failure: failed.reason ?? 'Failed' }
  return { uid, state: held('Complete') === undefined ? 'running' : 'complete', failure: null }
}

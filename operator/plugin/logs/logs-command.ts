/** `kubectl viewmesh logs`: the logs of all replicas of a resource, each line with its pod. */
import type { V1Pod } from '@kubernetes/client-node'
import { ServiceError } from '../../../src/errors.ts'
import { programOf } from '../../resources/names/names.ts'
import { hasCode } from '../../runtime/client/api-error.ts'
import type { ClusterAccess } from '../cluster/cluster-access.ts'
import { listPods, podsByOrdinal } from '../cluster/replicas.ts'
import { describeResource, parseResourceName, readResource } from '../cluster/resources.ts'
import type { Output } from '../text/output.ts'
import { logLines } from './log-lines.ts'
import { parseSince } from './since.ts'

export interface LogsFlags {
  readonly follow?: boolean
  readonly previous?: boolean
  readonly since?: string
  /** Newest lines of each replica. */
  readonly tail: number
}

/** 0, or 1 where the log of a replica could not be read. */
export async function logsCommand(
  { api, namespace }: Pick<ClusterAccess, 'api' | 'namespace'>,
  name: string,
  flags: LogsFlags,
  output: Output,
  signal?: AbortSignal,
): Promise<0 | 1> {
  const since = flags.since === undefined ? {} : { sinceSeconds: parseSince(flags.since) }
  const resource = await readResource(api, namespace, parseResourceName(name))
  const pods = podsByOrdinal(await listPods(api, namespace), resource)
  if (pods.length === 0) throw noPods(describeResource(resource))
  const options = {
    container: programOf(resource),
    tailLines: flags.tail,
    follow: flags.follow === true,
    previous: flags.previous === true,
    signal,
    ...since,
  }
  const write = async (pod: V1Pod): Promise<boolean> => {
    const podName = pod.metadata?.name ?? ''
    try {
      for await (const line of logLines(api.readLog({ namespace, name: podName }, options))) {
        await output.next(`[${podName}] ${line}`)
      }
      return true
    } catch (error) {
      if (signal?.aborted === true) return true
      if (!hasCode(error, 'OPERATOR_API_REFUSED', 'OPERATOR_API_NOT_FOUND')) throw error
      output.note(`[${podName}] has no such log: ${error.message}`)
      return false
    }
  }
  const written: boolean[] = []
  if (options.follow) written.push(...(await Promise.all(pods.map(({ object }) => write(object)))))
  else for (const { object } of pods) written.push(await write(object))
  return written.every((isWritten) => isWritten) ? 0 : 1
}

function noPods(what: string): ServiceError {
  return new ServiceError('PLUGIN_RESOURCE_MISSING', `${what} has no pods`, {
    remedy: 'kubectl viewmesh status says why.',
  })
}

/** The logs of pods in a report, bounded. */
import type { V1Pod } from '@kubernetes/client-node'
import { messageOf } from '../../../src/errors.ts'
import type { KubernetesApi } from '../../runtime/client/api.ts'
import { logLines } from '../logs/log-lines.ts'
import { hideInLog } from './hide.ts'
import type { ReportFolder } from './report-folder.ts'

interface LogBounds {
  /** The newest lines of each container. */
  readonly maxLines: number
  /** Bytes of each container. */
  readonly maxBytes: number
}

const bounds: LogBounds = { maxLines: 5_000, maxBytes: 4 * 1_024 * 1_024 }

/** Writes a file for each container, and one for what it wrote before its last restart. */
export async function writeLogs(
  api: KubernetesApi,
  folder: ReportFolder,
  pod: V1Pod,
  within: LogBounds = bounds,
): Promise<void> {
  const { name = '', namespace = '' } = pod.metadata ?? {}
  const statuses = [
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.containerStatuses ?? []),
  ]
  for (const { name: container, restartCount } of statuses) {
    const log = (previous: boolean): AsyncIterable<string> =>
      readBounded(api, { namespace, name }, { container, previous }, within)
    const file = (ending: string): string[] => [
      namespace,
      'logs',
      `${name}.${container}${ending}.log`,
    ]
    await folder.lines(file(''), log(false))
    if (restartCount > 0) await folder.lines(file('.previous'), log(true))
  }
}

async function* readBounded(
  api: KubernetesApi,
  pod: { readonly namespace: string; readonly name: string },
  which: { readonly container: string; readonly previous: boolean },
  { maxLines, maxBytes }: LogBounds,
): AsyncGenerator<string, void, undefined> {
  let bytes = 0
  try {
    for await (const line of logLines(api.readLog(pod, { ...which, tailLines: maxLines }))) {
      bytes += Buffer.byteLength(line)
      if (bytes > maxBytes) {
        yield `(the rest is left out: more than ${maxBytes} bytes)`
        return
      }
      yield hideInLog(line)
    }
  } catch (error) {
    yield `(not read: ${messageOf(error)})`
  }
}

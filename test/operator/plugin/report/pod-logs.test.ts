import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Pod } from '@kubernetes/client-node'
import { writeLogs } from '../../../../operator/plugin/report/pod-logs.ts'
import type { ReportFolder } from '../../../../operator/plugin/report/report-folder.ts'
import type { KubernetesApi } from '../../../../operator/runtime/client/api.ts'

const status = (name: string, restartCount: number): object => ({ name, restartCount })
const pod = {
  metadata: { name: 'main-0', namespace: 'apps' },
  status: {
    initContainerStatuses: [status('prepare', 0)],
    containerStatuses: [status('host', 1), status('broken', 0)],
  },
} as V1Pod

/** The files of a report about the pod, in which a log has at most so many bytes. */
async function filesOf(maxBytes: number): Promise<Record<string, string[]>> {
  const logs: Readonly<Record<string, string>> = {
    'prepare false 9': 'ready\n',
    'host false 9': '1234\n5678\n',
    'host true 9': 'before\n',
  }
  const api: Pick<KubernetesApi, 'readLog'> = {
    async *readLog(_, { container, previous, tailLines }) {
      const log = logs[`${container} ${previous} ${tailLines}`]
      if (log === undefined) throw new Error('no such log')
      yield Buffer.from(log)
    },
  }
  const files: Record<string, string[]> = {}
  const folder: Pick<ReportFolder, 'lines'> = {
    async lines(path, lines) {
      const written: string[] = []
      for await (const line of lines) written.push(line)
      files[path.join('/')] = written
    },
  }
  const bounds = { maxLines: 9, maxBytes }
  await writeLogs(api as KubernetesApi, folder as ReportFolder, pod, bounds)
  return files
}

const others = {
  'apps/logs/main-0.prepare.log': ['ready'],
  'apps/logs/main-0.host.previous.log': ['before'],
  'apps/logs/main-0.broken.log': ['(not read: no such log)'],
}

test('a report has the log of each container, and that before its last restart', async () => {
  assert.deepEqual(await filesOf(8), { ...others, 'apps/logs/main-0.host.log': ['1234', '5678'] })
})

test('a log ends where it has more bytes than a report takes', async () => {
  const files = await filesOf(7)
  assert.deepEqual(files['apps/logs/main-0.host.log'], [
    '1234',
    '(the rest is left out: more than 7 bytes)',
  ])
})

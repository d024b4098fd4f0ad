/** `kubectl viewmesh report`: a folder with what a bug report needs, and nothing of any Secret. */
import type { V1Pod } from '@kubernetes/client-node'
import { readVersion } from '../../../src/service/version.ts'
import type { ClusterAccess } from '../cluster/cluster-access.ts'
import type { Output } from '../text/output.ts'
import {
  type Collected,
  collectEvents,
  collectOperators,
  collectResources,
  createObjectReader,
  type ObjectReader,
} from './collect.ts'
import { hideInObject } from './hide.ts'
import { writeLogs } from './pod-logs.ts'
import { createReportFolder, type ReportFolder } from './report-folder.ts'

export interface ReportFlags {
  readonly allNamespaces?: boolean
  /** Folder to make. */
  readonly filename?: string
  /** Of the operator, for who may not look for it in all. */
  readonly operatorNamespace?: string
}

/** Pods whose logs are read. */
const maxPods = 100

type Access = Pick<ClusterAccess, 'api' | 'namespace' | 'serverVersion'>

/** 0, or 1 where something could not be read. */
export async function reportCommand(
  access: Access,
  flags: ReportFlags,
  output: Output,
): Promise<0 | 1> {
  const nowMs = Date.now()
  const path = flags.filename ?? `viewmesh-report-${timestamp(nowMs)}`
  const folder = await createReportFolder(path)
  const reader = createObjectReader(access.api)
  const namespace = flags.allNamespaces === true ? undefined : access.namespace
  const collected = await collectResources(reader, namespace)
  const events = await collectEvents(reader, namespace, collected)
  const operators = await collectOperators(reader, flags.operatorNamespace)
  await writeObjects(folder, [...collected, ...operators.collected])
  await folder.objects(['events.yaml'], events.map(hideInObject))
  const pods = [...operators.pods, ...podsIn(collected)]
  for (const pod of pods.slice(0, maxPods)) await writeLogs(access.api, folder, pod)
  if (pods.length > maxPods)
    reader.problems.push(`logs of ${pods.length - maxPods} pods are left out`)
  await folder.lines(['report.txt'], await headLines(access, reader, nowMs))
  output.line(path)
  for (const problem of reader.problems) output.note(`not in it: ${problem}`)
  output.note(
    'Values of Secrets and of environment variables are not in it, and URLs end at their port. Read it before you hand it to others: names, addresses and logs are.',
  )
  return reader.problems.length === 0 ? 0 : 1
}

function timestamp(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '')
}

function podsIn(collected: readonly Collected[]): V1Pod[] {
  return collected
    .filter(({ type }) => type.kind === 'Pod')
    .flatMap(({ objects }) => objects as V1Pod[])
}

/** A file for each kind in each namespace. */
async function writeObjects(folder: ReportFolder, collected: readonly Collected[]): Promise<void> {
  for (const [place, kinds] of Map.groupBy(
    collected.flatMap(({ type, objects }) => objects.map((object) => ({ type, object }))),
    ({ object }) => object.metadata?.namespace ?? '',
  )) {
    for (const [plural, found] of Map.groupBy(kinds, ({ type }) => type.plural)) {
      const objects = found.map(({ type: { apiVersion, kind }, object }) =>
        hideInObject({ apiVersion, kind, ...object }),
      )
      await folder.objects([place, `${plural}.yaml`], objects)
    }
  }
}

async function headLines(
  { serverVersion }: Access,
  { problems }: ObjectReader,
  nowMs: number,
): Promise<string[]> {
  const kubernetes = await serverVersion().catch((error: unknown) => `not known (${String(error)})`)
  return [
    `made at: ${new Date(nowMs).toISOString()}`,
    `kubectl-viewmesh: ${readVersion()}`,
    `Kubernetes: ${kubernetes}`,
    ...problems.map((problem) => `not in it: ${problem}`),
  ]
}

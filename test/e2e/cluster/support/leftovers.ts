/**
 * What tests that were killed left in the cluster: their namespaces, and what is in none. Each such object has a label
 * that says which process made it; where that is no more, whoever comes next takes the object away.
 */
import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import process from 'node:process'

/** The label; its value is a machine, a process there, and when that was started. */
export const testLabel = 'viewmesh.io/test'

/** An object of which it is asked whether it was left. */
interface MadeObject {
  readonly metadata?: {
    readonly name?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly creationTimestamp?: string
    readonly deletionTimestamp?: string
  }
  readonly status?: unknown
}

/** Of another machine it cannot be seen whether a process runs there; no suite takes this long. */
const longestMs = 7_200_000
/** A registered API that does not answer keeps every namespace from going; one of a test answers within moments. */
const longestSilenceMs = 60_000

/** An APIService keeps namespaces from going, so these come first. A cluster need not know all of them. */
const collections = [
  '/apis/apiregistration.k8s.io/v1/apiservices',
  '/api/v1/namespaces',
  '/api/v1/persistentvolumes',
  '/apis/storage.k8s.io/v1/storageclasses',
  '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
  ...['v1', 'v1beta1'].flatMap((version) => [
    `/apis/admissionregistration.k8s.io/${version}/mutatingadmissionpolicybindings`,
    `/apis/admissionregistration.k8s.io/${version}/mutatingadmissionpolicies`,
  ]),
  '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
  '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
]

/** Labels of an object that this process makes. */
export function testLabels(): Readonly<Record<string, string>> {
  return { [testLabel]: ownerOf(process.pid) ?? '' }
}

/** Who a process of this machine is; null for one that there is not. */
export function ownerOf(pid: number): string | null {
  const started = startOf(pid)
  return started === null ? null : `${machine()}.${pid}.${started}`
}

type Request = (
  method: string,
  path: string,
  options?: { readonly query?: Readonly<Record<string, string>> },
) => Promise<{ readonly status: number; readonly body: object }>

/** Has what was left deleted, and does not wait until it is gone; its names. */
export async function removeLeftovers(request: Request): Promise<string[]> {
  const removed: string[] = []
  for (const collection of collections) {
    const { status, body } = await request('GET', collection, {
      query: { labelSelector: testLabel },
    })
    if (status === 404) continue
    const { items = [] } = body as { readonly items?: readonly MadeObject[] }
    for (const { metadata } of items.filter((one) => isLeft(one, Date.now()))) {
      await request('DELETE', `${collection}/${metadata?.name}`)
      removed.push(`${collection}/${metadata?.name}`)
    }
  }
  return removed
}

/** Whether whoever made it is no more. */
export function isLeft({ metadata, status }: MadeObject, nowMs: number): boolean {
  if (metadata?.deletionTimestamp !== undefined) return false
  const owner = metadata?.labels?.[testLabel] ?? ''
  const [place, pid] = owner.split('.')
  if (place === machine()) return ownerOf(Number(pid)) !== owner
  const ageMs = nowMs - Date.parse(metadata?.creationTimestamp ?? '')
  return ageMs > (isSilent(status) ? longestSilenceMs : longestMs)
}

function isSilent(status: unknown): boolean {
  const { conditions = [] } = Object(status) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
  return conditions.some(({ type, status: is }) => type === 'Available' && is === 'False')
}

/** When a process was started, in ticks; the number of one that ended may be used again. Null for none. */
function startOf(pid: number): string | null {
  const stat = textOf(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (stat !== '') return fields[0] === 'Z' ? null : (fields[19] ?? null)
  try {
    process.kill(pid, 0)
    return '0'
  } catch {
    return null
  }
}

/** This machine since it was started, or this container of it: where numbers of processes mean the same. */
function machine(): string {
  const boot = textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))
  const space = textOf(() => readlinkSync('/proc/self/ns/pid'))
  const text = [hostname(), boot, space].join(' ')
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

/** Empty where a system has no such file. */
function textOf(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

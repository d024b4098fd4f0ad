/** Helm, for tests of the charts; it is asked for Kubernetes 1.34 where no cluster gives it the version. */
import { execFile } from 'node:child_process'
import { parseAllDocuments, stringify } from 'yaml'
import { repository } from '../../../support/repository.ts'

interface HelmResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** An object of a rendered chart. */
export interface RenderedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

interface Release {
  readonly name: string
  readonly namespace: string
}

/** Runs helm; values go in as a file by `-f -`. */
export function helm(args: readonly string[], values?: object): Promise<HelmResult> {
  return new Promise((resolve) => {
    const child = execFile(
      'helm',
      [...args, ...(values === undefined ? [] : ['--values', '-'])],
      { cwd: repository, maxBuffer: 16_777_216 },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr })
      },
    )
    child.stdin?.end(values === undefined ? '' : stringify(values))
  })
}

/** Runs helm in one namespace. Throws what helm says. */
export type ReleaseCommand = (args: readonly string[], values?: object) => Promise<HelmResult>

/** For the releases of a namespace. */
export function releasesIn(namespace: string): ReleaseCommand {
  return async (args, values) => {
    const result = await helm([...args, '--namespace', namespace], values)
    if (result.code !== 0) throw new Error(result.stderr)
    return result
  }
}

/** Everything that helm reports of each release: values, manifest, hooks, notes. */
export async function gotFromHelm(
  release: ReleaseCommand,
  names: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const all = names.map(async (name) => {
    const { stdout } = await release(['get', 'all', name])
    return [`helm get all ${name}`, stdout] as const
  })
  return Object.fromEntries(await Promise.all(all))
}

/** How helm waits for what it installs. */
export const untilReady: readonly string[] = ['--wait', '--timeout', '5m']

/** An image as the values of the charts name it. */
export function imageValues(image: string): { readonly repository: string; readonly tag: string } {
  const [repository = '', tag = ''] = image.split(/:(?=[^/]*$)/)
  return { repository, tag }
}

/** What a chart comes to, in the order of its files. Throws what helm says where it refuses. */
export async function renderChart(
  chart: string,
  { name, namespace }: Release,
  values: object,
): Promise<RenderedObject[]> {
  const version = ['--kube-version', '1.34.0']
  const { code, stdout, stderr } = await helm(
    ['template', name, `charts/${chart}`, '--namespace', namespace, ...version],
    values,
  )
  if (code !== 0) throw new Error(stderr)
  return parseAllDocuments(stdout)
    .map((document): RenderedObject | null => document.toJS())
    .filter((object) => object !== null)
}

/** Why helm refuses these values. Throws where it takes them. */
export async function refusalOf(chart: string, values: object): Promise<string> {
  const version = ['--kube-version', '1.34.0']
  const { code, stderr } = await helm(
    ['template', 'mainnet', `charts/${chart}`, '--namespace', 'apps', ...version],
    values,
  )
  if (code === 0) throw new Error('helm took the values')
  return stderr
}

/** What helm says to who installs a chart with these values. Throws what it says where it refuses. */
export async function notesOf(
  chart: string,
  { name, namespace }: Release,
  values: object,
): Promise<string> {
  const { code, stdout, stderr } = await helm(
    ['install', name, `charts/${chart}`, '--namespace', namespace, '--dry-run=client'],
    values,
  )
  if (code !== 0) throw new Error(stderr)
  return stdout.slice(stdout.indexOf('NOTES:'))
}

/** Whether it is made for a moment only, as the pods of `helm test`, rather than part of the release. */
export function isHook({ metadata }: RenderedObject): boolean {
  return metadata.annotations?.['helm.sh/hook'] !== undefined
}

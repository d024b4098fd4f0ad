/** Helm, for tests of the charts; it is asked for Kubernetes 1.34 where no cluster tells it the version. */
import { execFile } from 'node:child_process'
import { parseAllDocuments, stringify } from 'yaml'
import { repository } from './repository.ts'

export interface HelmResult {
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

export interface Release {
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

export function isHook({ metadata }: RenderedObject): boolean {
  return metadata.annotations?.['helm.sh/hook'] !== undefined
}

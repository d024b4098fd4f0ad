/** `viewmesh doctor`: what the toolkit needs on this machine, and what it does not. */
import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { z } from 'zod'
import { ServiceError } from '../../errors.ts'
import { paths } from '../../service/contract.ts'
import { failureText } from '../../service/failure-text.ts'
import { counted } from '../cli/counted.ts'
import { defaultHostUrl } from '../cli/default-host.ts'
import { parseHostUrl } from '../cli/http-url.ts'
import { countFailed, outcomeText } from '../cli/outcomes.ts'
import { printResult } from '../cli/print.ts'
import type { Terminal } from '../cli/terminal.ts'
import { requestHost } from '../host-api/host-request.ts'
import { examineLens } from '../lens/examine.ts'
import { openProject } from '../project/project.ts'

/** What the command takes. */
export interface DoctorOptions {
  readonly host?: string
  readonly json?: boolean
}

interface MachineCheck {
  readonly name: string
  readonly outcome: 'passed' | 'warning' | 'failed'
  readonly message: string
}

/** What other toolkits need for their native library of WebAssembly. */
const ignoredVariables = ['WASMER_ROOT', 'WASMER_LIB_PATH', 'DYLD_LIBRARY_PATH', 'LD_LIBRARY_PATH']

/** @throws ServiceError `TOOLKIT_MACHINE_UNFIT` behind the report where a check failed. */
export async function examineMachine(
  terminal: Terminal,
  { host = defaultHostUrl, json }: DoctorOptions,
): Promise<void> {
  parseHostUrl('--host', host)
  const checks: readonly MachineCheck[] = [
    // The launcher starts no Node that is too old.
    { name: 'Node.js', outcome: 'passed', message: process.versions.node },
    checkVariables(terminal.env),
    await checkLenses(terminal),
    await checkProject(terminal),
    await checkHost(terminal, host),
  ]
  const text = checks.map((check) => checkText(terminal, check)).join('\n')
  printResult(terminal, { checks }, { json, text })
  const failed = countFailed(checks)
  if (failed > 0)
    throw new ServiceError('TOOLKIT_MACHINE_UNFIT', `${failed} of the checks failed`, {
      remedy: 'Each says what to do.',
    })
}

function checkVariables(env: Terminal['env']): MachineCheck {
  const set = ignoredVariables.filter((name) => (env[name] ?? '') !== '')
  const message =
    set.length === 0
      ? 'none is needed: lenses run in Node.js itself'
      : `${set.join(', ')} ${set.length === 1 ? 'is' : 'are'} ignored: lenses run in Node.js itself`
  return { name: 'native WebAssembly library', outcome: 'passed', message }
}

/** Runs a lens that ships in a lens process, as a Host does. */
async function checkLenses({ env, signal }: Terminal): Promise<MachineCheck> {
  const name = 'lens process'
  try {
    const wasm = await readFile(new URL('../../lenses/filter.wasm', import.meta.url))
    const documents = ['{"address":"0x01"}', '{"address":"0x02"}']
    const args = '{"src":"address","value":"0x01"}'
    const checks = await examineLens({
      ...{ wasm: new Uint8Array(wasm), args, documents, environment: env, signal },
    })
    const failed = countFailed(checks)
    if (failed === 0) return { name, outcome: 'passed', message: 'runs a lens that ships' }
    return { name, outcome: 'failed', message: `fails ${failed} of ${checks.length} checks` }
  } catch (error) {
    signal.throwIfAborted()
    return { name, outcome: 'failed', message: failureText(error) }
  }
}

async function checkProject(terminal: Terminal): Promise<MachineCheck> {
  const name = 'project'
  try {
    const project = await openProject(terminal)
    const names = await project.names()
    for (const each of names) await project.load(each)
    const what = project.isProject ? 'project' : 'home folder, as there is no project'
    return {
      ...{ name, outcome: 'passed' },
      message: `${project.folder} (${what}), ${counted(names.length, 'View')}`,
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { name, outcome: 'failed', message: failureText(error) }
  }
}

/** What every Host answers. */
const viewList = z.object({ views: z.array(z.unknown()) })

/** A Host is needed for nothing but deploying and testing on its blocks. */
async function checkHost({ signal }: Terminal, url: string): Promise<MachineCheck> {
  const name = 'Host'
  try {
    const request = { method: 'GET', path: paths.views, signal } as const
    const { status, body } = await requestHost({ url, token: null }, request)
    if (status !== 200)
      return { name, outcome: 'warning', message: `${url} answers with the status ${status}` }
    if (viewList.safeParse(body).success) return { name, outcome: 'passed', message: url }
    return { name, outcome: 'warning', message: `${url} answers, and not as a Host does` }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const isAbsent = error.code === 'TOOLKIT_HOST_UNREACHABLE'
    const message = isAbsent
      ? `${error.message}: deploying starts one, npm start as well`
      : failureText(error)
    return { name, outcome: 'warning', message }
  }
}

function checkText(terminal: Terminal, check: MachineCheck): string {
  return `${outcomeText(terminal, check)} ${check.name}: ${check.message}`
}

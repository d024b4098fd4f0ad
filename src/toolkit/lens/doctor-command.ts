/** `lens doctor`: examines a module and prints what was found. */
import { resolve } from 'node:path'
import { ServiceError } from '../../errors.ts'
import { readBoundedFile } from '../../read-bounded.ts'
import { lensArguments, viewLimits } from '../../views/view.ts'
import { usageError } from '../cli/exit-code.ts'
import { countFailed, outcomeText } from '../cli/outcomes.ts'
import { printResult, toSingleLine } from '../cli/print.ts'
import { styleOf } from '../cli/style.ts'
import type { Terminal } from '../cli/terminal.ts'
import type { LensCheck } from './check.ts'
import { examineLens } from './examine.ts'
import { defaultQuery, sampleDocuments } from './sample-documents.ts'

export interface DoctorFlags {
  readonly args?: string
  readonly query?: string
  readonly json?: boolean
}

/** @throws ServiceError `TOOLKIT_LENS_UNFIT` behind the report where a check failed. */
export async function examineFile(
  terminal: Terminal,
  file: string,
  { args = '', query = defaultQuery, json }: DoctorFlags,
): Promise<void> {
  if (lensArguments(args) === undefined)
    throw usageError('invalid --args JSON', 'Write a JSON object, as in \'{"name": "value"}\'.')
  const checks = await examineLens({
    wasm: await readModule(resolve(terminal.cwd, file)),
    args,
    documents: await sampleDocuments(query),
    environment: terminal.env,
    signal: terminal.signal,
  })
  const text = checks.map((check) => checkText(terminal, check)).join('\n')
  printResult(terminal, { file, checks }, { json, text })
  const failed = countFailed(checks)
  if (failed > 0)
    throw new ServiceError('TOOLKIT_LENS_UNFIT', `${file} fails ${failed} of its checks`, {
      remedy:
        'The section named below each check says what to do; the docs are in a clone of Viewmesh, and not in its package.',
    })
}

async function readModule(path: string): Promise<Uint8Array> {
  try {
    return await readBoundedFile(path, viewLimits.blob)
  } catch (cause) {
    throw new ServiceError('TOOLKIT_LENS_FILE_REFUSED', `${path} cannot be read`, {
      remedy: 'Name a .wasm file; viewmesh lens build makes one.',
      cause,
    })
  }
}

function checkText(terminal: Terminal, check: LensCheck): string {
  const line = `${outcomeText(terminal, check)}  ${check.name}: ${toSingleLine(check.message)}`
  return check.outcome === 'passed'
    ? line
    : `${line}\n         ${styleOf(terminal)('dim', `${check.page} in a clone of Viewmesh`)}`
}

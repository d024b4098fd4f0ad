/** Tests of Views over the samples or blocks of their own, in a real lens process. */
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { readBlocks, type TrialBlock } from '../../../../src/toolkit/blocks/block-form.ts'
import { sampleBlocks } from '../../../../src/toolkit/blocks/fixture.ts'
import { runTrial, type TrialReport } from '../../../../src/toolkit/trial/run-trial.ts'
import type { TrialRow } from '../../../../src/toolkit/trial/trial-job.ts'
import { encodeView } from '../../../../src/views/wire.ts'

/** What a test changes of a View of all logs. */
interface TrialParts {
  readonly query?: string
  readonly sdl?: string
  readonly lenses?: readonly { readonly wasm: Uint8Array; readonly args?: object | string }[]
  readonly blocks?: readonly TrialBlock[]
  readonly network?: string
  readonly expected?: readonly TrialRow[]
  readonly signal?: AbortSignal
  readonly onProgress?: (done: number) => void
}

/** A module that ships. */
export const shipped = (name: string): Uint8Array =>
  readFileSync(new URL(`../../../../src/lenses/${name}.wasm`, import.meta.url))

/** The address of USDC, which the samples have transfers of. */
export const usdc = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'

/** Blocks with these logs. */
export const blocksOf = (...blocks: readonly (readonly object[])[]): TrialBlock[] =>
  readBlocks(
    blocks.map((logs) => ({ logs })),
    'blocks',
  )

/** Runs the test of a View. */
export function trial(parts: TrialParts = {}): Promise<TrialReport> {
  const {
    query = 'Log { address logIndex }',
    sdl = 'type Logs { address: String logIndex: Int }',
  } = parts
  const lenses = (parts.lenses ?? []).map(({ wasm, args = '' }) => ({
    wasm,
    args: typeof args === 'string' ? args : JSON.stringify(args),
  }))
  return runTrial({
    view: 'Logs',
    wire: encodeView({ query, sdl, lenses }),
    network: parts.network ?? 'Ethereum__Mainnet',
    blocks: parts.blocks ?? sampleBlocks(),
    expected: parts.expected ?? null,
    environment: process.env,
    signal: parts.signal ?? new AbortController().signal,
    onProgress: parts.onProgress ?? (() => undefined),
  })
}

/** Severity, code and message of each finding. */
export const found = ({ findings }: TrialReport): string[] =>
  findings.map(({ severity, kind, code, message }) => `${severity} (${kind}) ${code}: ${message}`)

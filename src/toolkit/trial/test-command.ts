/** `view test`: runs a View of the project, and prints what its rows are like. */
import { resolve } from 'node:path'
import { ServiceError } from '../../errors.ts'
import { defaultNetwork, networkOfQuery } from '../../views/query-network.ts'
import { readFixture, sampleBlocks } from '../blocks/fixture.ts'
import type { TrialBlocks } from '../blocks/trial-store.ts'
import { usageError } from '../cli/exit-code.ts'
import { parseHostUrl } from '../cli/http-url.ts'
import { openProgressLine, printResult } from '../cli/print.ts'
import { styleOf } from '../cli/style.ts'
import type { Terminal } from '../cli/terminal.ts'
import { openProject } from '../project/project.ts'
import type { ProjectWire } from '../project/project-view.ts'
import { readExpectedRows } from './expected-rows.ts'
import { readHostBlocks } from './host-blocks.ts'
import { countErrors, reportText } from './report-text.ts'
import { runTrial, type TrialReport } from './run-trial.ts'

/** Which blocks a View is run on. */
export interface BlockFlags {
  readonly fixture?: string
  readonly from?: string
  readonly blocks?: number
}

export interface TestFlags extends BlockFlags {
  readonly expect?: string
  readonly json?: boolean
}

const defaultBlocks = 10

/** @throws ServiceError `TOOLKIT_TEST_FAILED` behind the report, and what keeps the View from being run at all. */
export async function testView(terminal: Terminal, name: string, flags: TestFlags): Promise<void> {
  checkBlockFlags(flags)
  const { wire, view } = await (await openProject(terminal)).wire(name)
  const report = await testOnce(terminal, { name, wire, view }, flags)
  printReport(terminal, report, flags)
  if (report.passed) return
  throw new ServiceError(
    'TOOLKIT_TEST_FAILED',
    `the test of ${name} found ${countErrors(report.findings)}`,
    { remedy: 'Each error above says what to do.' },
  )
}

/** @throws ServiceError `TOOLKIT_USAGE_INVALID` for flags that no change of a file mends */
export function checkBlockFlags({ fixture, from, blocks }: BlockFlags): void {
  if (fixture !== undefined && from !== undefined)
    throw usageError('--fixture and --from are both given', 'Leave one of them out.')
  if (blocks !== undefined && from === undefined)
    throw usageError('--blocks is given without --from', 'Name the Host: --from URL.')
  if (from !== undefined) parseHostUrl('--from', from)
}

/** Prints the report as a table, or as JSON. */
export function printReport(
  terminal: Terminal,
  report: TrialReport,
  { json }: Pick<TestFlags, 'json'>,
): void {
  printResult(terminal, report, { json, text: reportText(report, { style: styleOf(terminal) }) })
}

/** A View as it is tested. */
type TestedView = Pick<ProjectWire, 'wire' | 'view'> & { readonly name: string }

/** Runs a View once, on blocks of flags that were checked. */
export async function testOnce(
  terminal: Terminal,
  { name, wire, view }: TestedView,
  flags: TestFlags,
): Promise<TrialReport> {
  const expected =
    flags.expect === undefined ? null : await readExpectedRows(resolve(terminal.cwd, flags.expect))
  const given = await readTrialBlocks(terminal, flags)
  const progress = openProgressLine(terminal)
  try {
    return await runTrial({
      view: name,
      wire,
      blocks: given.blocks,
      network: given.network ?? networkOr(view.query),
      expected,
      environment: terminal.env,
      signal: terminal.signal,
      onProgress: (done) => progress.show(`block ${done} of ${given.blocks.length}`),
    })
  } finally {
    progress.end()
  }
}

/** What is wrong with the query is for the test to say. */
function networkOr(query: string): string {
  try {
    return networkOfQuery(query)
  } catch {
    return defaultNetwork
  }
}

/** The network is null where the blocks are of whichever chain the View is. */
type GivenBlocks = Pick<TrialBlocks, 'blocks'> & { readonly network: string | null }

async function readTrialBlocks(
  terminal: Terminal,
  { fixture, from, blocks }: BlockFlags,
): Promise<GivenBlocks> {
  if (fixture !== undefined) return readFixture(resolve(terminal.cwd, fixture))
  if (from === undefined) return { network: null, blocks: sampleBlocks() }
  const count = blocks ?? defaultBlocks
  const progress = openProgressLine(terminal)
  try {
    return await readHostBlocks({
      host: { url: from, token: null },
      count,
      signal: terminal.signal,
      onProgress: (read) => progress.show(`block ${read} of ${count} read`),
    })
  } finally {
    progress.end()
  }
}

/** The report of a test for people. Whatever comes from a lens is printed as one plain line. */
import { counted } from '../cli/counted.ts'
import { toSingleLine } from '../cli/print.ts'
import { tableText } from '../cli/table.ts'
import type { ViewFinding } from './finding.ts'
import type { TrialReport } from './run-trial.ts'
import type { TrialRow } from './trial-job.ts'

/** Rows of the table; `--json` prints all. */
const maxRows = 20
/** Characters of a value in it. */
const maxValue = 44
/** Hashes and addresses, whose ends are enough to tell them apart. */
const longHex = /^0x[0-9a-f]{20,}$/

interface TextOptions {
  /** Gives a text a style, or leaves it as it is. */
  readonly style: (style: 'bold' | 'dim' | 'red' | 'green' | 'yellow', text: string) => string
}

/** Several lines, without the last line end. */
export function reportText(report: TrialReport, { style }: TextOptions): string {
  const { blocks, documents, rowCount, measured, feeds, findings, passed } = report
  const parts = [
    rowTable(report),
    fieldTable(report),
    [
      `${counted(blocks, 'block')}, ${counted(documents, 'document')}, ${counted(rowCount, 'row')}`,
      ...(feeds.length > 0 ? [`lenses are fed: ${feeds.join(', ')}`] : []),
      ...(measured === null
        ? []
        : [
            `a thousand documents: ${measured.ms.toFixed(1)} ms, ${mebibytes(measured.memoryBytes)} MiB of memory`,
          ]),
    ].join('\n'),
    findings.map((finding) => findingText(finding, style)).join('\n'),
    passed
      ? style('green', `${report.view} passed`)
      : style('red', `${report.view} failed: ${countErrors(findings)}`),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** As in `2 errors`. */
export function countErrors(findings: readonly ViewFinding[]): string {
  return counted(findings.filter(({ severity }) => severity === 'error').length, 'error')
}

function rowTable({ rows, rowCount, fields }: TrialReport): string {
  const [first] = rows
  if (first === undefined) return ''
  const names = ['_blockNumber', ...fields.map(({ name }) => name)]
  const shown = rows.slice(0, maxRows)
  const more = rowCount - shown.length
  const table = tableText(
    names,
    shown.map((row) => names.map((name) => valueText(row, name))),
  )
  return more > 0 ? `${table}\n${counted(more, 'more row')}: --json prints all` : table
}

function valueText(row: TrialRow, name: string): string {
  const value = row[name]
  const text = toSingleLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
  if (longHex.test(text)) return `${text.slice(0, 8)}…${text.slice(-6)}`
  return text.length > maxValue ? `${text.slice(0, maxValue - 1)}…` : text
}

function fieldTable({ fields, rowCount }: TrialReport): string {
  if (rowCount === 0) return ''
  return tableText(
    ['FIELD', 'TYPE', 'VALUES', 'NULL', 'MISSING', 'WRONG TYPE'],
    fields.map(({ name, type, values, nulls, missing, wrongType }) => [
      name,
      type,
      ...[values, nulls, missing, wrongType].map(String),
    ]),
  )
}

function findingText(
  { severity, kind, code, message, remedy, blocks }: ViewFinding,
  style: TextOptions['style'],
): string {
  const colour = severity === 'error' ? 'red' : 'yellow'
  const where = blocks.length > 0 ? ` (${blocksText(blocks)})` : ''
  const head = `${style(colour, `${severity}: ${kind}`)}: ${toSingleLine(message)}${where} ${style('dim', `[${code}]`)}`
  return remedy === null ? head : `${head}\n  What to do: ${toSingleLine(remedy)}`
}

const maxBlocks = 5

function blocksText(blocks: readonly number[]): string {
  const shown = blocks.slice(0, maxBlocks).join(', ')
  const more = blocks.length > maxBlocks ? ` and ${blocks.length - maxBlocks} more` : ''
  return `${blocks.length === 1 ? 'block' : 'blocks'} ${shown}${more}`
}

function mebibytes(bytes: number): string {
  return (bytes / (1024 * 1024)).toFixed(1)
}
